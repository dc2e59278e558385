"""The messages: names, fields and their numbers, as the event file format has them."""

from seaboard._proto.message import define

_EVENTS = """
Event
    1 wall_time double
    2 step int64
    3 file_version string @what
    4 graph_def bytes @what
    5 summary Summary @what
    6 log_message LogMessage @what
    7 session_log SessionLog @what
    8 tagged_run_metadata TaggedRunMetadata @what
    9 meta_graph_def bytes @what
    10 source_metadata SourceMetadata
SourceMetadata
    1 writer string
LogMessage
    1 level enum
    2 message string
SessionLog
    1 status enum
    2 checkpoint_path string
    3 msg string
TaggedRunMetadata
    1 tag string
    2 run_metadata bytes
Summary
    1 value Summary.Value repeated
Summary.Value
    1 tag string
    2 simple_value float @value
    3 obsolete_old_style_histogram bytes @value
    4 image Summary.Image @value
    5 histo HistogramProto @value
    6 audio Summary.Audio @value
    7 node_name string
    8 tensor TensorProto @value
    9 metadata SummaryMetadata
Summary.Image
    1 height int32
    2 width int32
    3 colorspace int32
    4 encoded_image_string bytes
Summary.Audio
    1 sample_rate float
    2 num_channels int64
    3 length_frames int64
    4 encoded_audio_string bytes
    5 content_type string
SummaryMetadata
    1 plugin_data SummaryMetadata.PluginData
    2 display_name string
    3 summary_description string
    4 data_class enum
SummaryMetadata.PluginData
    1 plugin_name string
    2 content bytes
HistogramProto
    1 min double
    2 max double
    3 num double
    4 sum double
    5 sum_squares double
    6 bucket_limit double repeated
    7 bucket double repeated
TensorProto
    1 dtype enum
    2 tensor_shape TensorShapeProto
    3 version_number int32
    4 tensor_content bytes
    5 float_val float repeated
    6 double_val double repeated
    7 int_val int32 repeated
    8 string_val bytes repeated
    9 scomplex_val float repeated
    10 int64_val int64 repeated
    11 bool_val bool repeated
    12 dcomplex_val double repeated
    13 half_val int32 repeated
    16 uint32_val uint32 repeated
    17 uint64_val uint64 repeated
    18 float8_val bytes
TensorShapeProto
    2 dim TensorShapeProto.Dim repeated
    3 unknown_rank bool
TensorShapeProto.Dim
    1 size int64
    2 name string
"""

_GRAPHS = """
GraphDef
    1 node NodeDef repeated
    2 library bytes
    3 version int32
    4 versions VersionDef
NodeDef
    1 name string
    2 op string
    3 input string repeated
    4 device string
    5 attr AttrValue map:string
AttrValue
    1 list AttrValue.ListValue @value
    2 s bytes @value
    3 i int64 @value
    4 f float @value
    5 b bool @value
    6 type enum @value
    7 shape TensorShapeProto @value
    8 tensor TensorProto @value
    9 placeholder string @value
AttrValue.ListValue
    2 s bytes repeated
    3 i int64 repeated
    4 f float repeated
    5 b bool repeated
    6 type enum repeated
    7 shape TensorShapeProto repeated
    8 tensor TensorProto repeated
VersionDef
    1 producer int32
    2 min_consumer int32
    3 bad_consumers int32 repeated
RunMetadata
    1 step_stats StepStats
    3 partition_graphs GraphDef repeated
    4 function_graphs RunMetadata.FunctionGraphs repeated
RunMetadata.FunctionGraphs
    1 partition_graphs GraphDef repeated
    2 pre_optimization_graph GraphDef
    3 post_optimization_graph GraphDef
StepStats
    1 dev_stats DeviceStepStats repeated
DeviceStepStats
    1 device string
"""

_PLUGINS = """
HParamsPluginData
    1 version int32
    2 experiment Experiment @data
    3 session_start_info SessionStartInfo @data
    4 session_end_info SessionEndInfo @data
Experiment
    1 description string
    2 user string
    3 time_created_secs double
    4 hparam_infos HParamInfo repeated
    5 metric_infos MetricInfo repeated
    6 name string
HParamInfo
    1 name string
    2 display_name string
    3 description string
    4 type enum
    5 domain_discrete ListValue @domain
    6 domain_interval Interval @domain
    7 differs bool
Interval
    1 min_value double
    2 max_value double
MetricInfo
    1 name MetricName
    3 display_name string
    4 description string
    5 dataset_type enum
MetricName
    1 group string
    2 tag string
SessionStartInfo
    1 hparams Value map:string
    2 model_uri string
    3 monitor_url string
    4 group_name string
    5 start_time_secs double
SessionEndInfo
    1 status enum
    2 end_time_secs double
Value
    1 null_value enum @kind
    2 number_value double @kind
    3 string_value string @kind
    4 bool_value bool @kind
    6 list_value ListValue @kind
ListValue
    1 values Value repeated
Layout
    1 version int32
    2 category Category repeated
Category
    1 title string
    2 chart Chart repeated
    3 closed bool
Chart
    1 title string
    2 multiline MultilineChartContent @content
    3 margin MarginChartContent @content
MultilineChartContent
    1 tag string repeated
MarginChartContent
    1 series MarginChartContent.Series repeated
MarginChartContent.Series
    1 value string
    2 lower string
    3 upper string
ProjectorConfig
    1 model_checkpoint_path string
    2 embeddings EmbeddingInfo repeated
    3 model_checkpoint_dir string
EmbeddingInfo
    1 tensor_name string
    2 metadata_path string
    3 bookmarks_path string
    4 tensor_shape uint32 repeated
    5 sprite SpriteMetadata
    6 tensor_path string
SpriteMetadata
    1 image_path string
    2 single_image_dim uint32 repeated
PrCurvePluginData
    1 version int32
    2 num_thresholds uint32
"""

_ALL = define(_EVENTS + _GRAPHS + _PLUGINS)

Event = _ALL["Event"]
SourceMetadata = _ALL["SourceMetadata"]
SessionLog = _ALL["SessionLog"]
SessionLog.STATUS_UNSPECIFIED, SessionLog.START, SessionLog.STOP, SessionLog.CHECKPOINT = range(4)
LogMessage = _ALL["LogMessage"]
TaggedRunMetadata = _ALL["TaggedRunMetadata"]
Summary = _ALL["Summary"]
SummaryMetadata = _ALL["SummaryMetadata"]
HistogramProto = _ALL["HistogramProto"]
TensorProto = _ALL["TensorProto"]
TensorShapeProto = _ALL["TensorShapeProto"]
GraphDef = _ALL["GraphDef"]
NodeDef = _ALL["NodeDef"]
AttrValue = _ALL["AttrValue"]
VersionDef = _ALL["VersionDef"]
RunMetadata = _ALL["RunMetadata"]
StepStats = _ALL["StepStats"]
DeviceStepStats = _ALL["DeviceStepStats"]
HParamsPluginData = _ALL["HParamsPluginData"]
Experiment = _ALL["Experiment"]
HParamInfo = _ALL["HParamInfo"]
Interval = _ALL["Interval"]
MetricInfo = _ALL["MetricInfo"]
MetricName = _ALL["MetricName"]
SessionStartInfo = _ALL["SessionStartInfo"]
SessionEndInfo = _ALL["SessionEndInfo"]
Value = _ALL["Value"]
ListValue = _ALL["ListValue"]
Layout = _ALL["Layout"]
Category = _ALL["Category"]
Chart = _ALL["Chart"]
MultilineChartContent = _ALL["MultilineChartContent"]
MarginChartContent = _ALL["MarginChartContent"]
ProjectorConfig = _ALL["ProjectorConfig"]
EmbeddingInfo = _ALL["EmbeddingInfo"]
SpriteMetadata = _ALL["SpriteMetadata"]
PrCurvePluginData = _ALL["PrCurvePluginData"]

# Numbers of TensorFlow's DataType that are used by name.
DT_FLOAT, DT_DOUBLE, DT_STRING = 1, 2, 7
