// The core as rooms and dashboards see it. Dashboards import this file, the rooms they use and their own folder.
export { hub } from './data/hub.svelte';
export { api, apiUrl } from './data/api';
export { followJob, STOPPED } from './data/job';
/** Questions to the server: a card holds a LiveQuery and says what it wants to know; see data/query/question.ts. */
export { LiveQuery } from './data/query/live.svelte';
export type { Ask, Question } from './data/query/question';
export type { Depends, Outdated } from './data/query/news';
export { isAwaited, type Trouble } from './data/query/queries.svelte';
export {
  bandsQuestion,
  scalarsQuestion,
  seriesKey,
  type Bands,
  type Points,
  type SeriesRef,
} from './data/query/scalars';
export { measureQuestion, type Measured } from './data/query/summaries';
export { AHEAD, BACKGROUND, IN_SIGHT, type Priority } from './data/fetch.queue';
export { default as Retry } from './app/Retry.svelte';
export { default as Lazy } from './app/Lazy.svelte';
export type { Series, Band } from './data/columns';
export { abridge, lastWords } from './base/names/apart';
/** For questions whose replies are columns of their own kind: a decoder beside the question. */
export { decodeEntries } from './data/columns';
export { MEMBER_UNSMOOTHED, NO_BASELINE, NO_X, NOT_RISING, UNCOMPARED, UNSMOOTHED } from './data/columns';
export { fail, ok, type Problem, type Result } from './base/result';
export { toNumber } from './data/types';
export { GRID_AT, GRID_BYTES, GRID_MAGIC, STEP } from './data/layouts';
export { MEDIA_AT, MEDIA_BYTES, MEDIA_MAGIC, MEDIA_TYPES, MORE_MEDIA, NO_MEDIA, SAME_MEDIA } from './data/layouts';
export { COUNT_AT, COUNT_BYTES, COUNT_MAGIC, SPAN_AT, SPAN_BYTES, SPAN_MAGIC } from './data/layouts';
export type {
  ClipPicture,
  Clips,
  Comparison,
  Formula,
  Grid,
  GridsAsk,
  HistogramPoint,
  Histograms,
  GraphDrawAsk,
  GraphDrawing,
  GraphEntry,
  GraphFound,
  GraphHit,
  GraphLink,
  GraphNode,
  GraphPath,
  GraphRef,
  Graphs as GraphsReply,
  GraphSource,
  Measure,
  MeasurePoint,
  Picture as PictureReply,
  MediaList,
  ProfileAdvice,
  ProfileCapture,
  ProfileCaptures,
  ProfileCollective,
  ProfileDifference,
  ProfileDifferenceRow,
  ProfileDistributed,
  ProfileFlow,
  ProfileFlows,
  ProfileFound,
  ProfileGroup,
  ProfileInput,
  ProfileInputStage,
  ProfileKernel,
  ProfileKernels,
  ProfileMemory,
  ProfileMemoryRow,
  ProfileModule,
  ProfileModules,
  ProfileNames,
  ProfileOp,
  ProfileOpened,
  ProfileOps,
  ProfileOverview,
  ProfilePart,
  ProfilePartKind,
  ProfilePath,
  ProfilePathRow,
  ProfileRank,
  ProfileSlice,
  ProfileSliceRef,
  ProfileStep,
  ProfileStepCost,
  ProfileStepRule,
  ProfileTotal,
  ProfileTotals,
  ProfileTrack,
  ProfileTracks,
  ProfileWaits,
  Run,
  ScalarsAsk,
  SheetAsk,
  Smoothing,
  SmoothKind,
  Tag,
  TextFault,
  TextFound,
  TextPoint,
  TextSearch,
  Texts as TextsReply,
} from './data/types';
export { alongMetric, isX, metricOf, xAsk, xWhat, type X } from './base/address/axis';
export { view } from './app/view/view.svelte';
export * as fields from './base/address/fields';
export { numberOr, oneOf, type Field } from './base/address/fields';
export { joinList, splitList } from './base/address/hash';
export { cardKey, cardOf, pluginOf, type CardId } from './base/address/card';
export type { CardKind, Dashboard, EmptyPage, Sample } from './app/tabs/dashboard';
/** Cards that other dashboards offer to the time series page. */
export { cardKinds } from './app/tabs/kinds.svelte';
export { runs, direction } from './app/runs/runs.svelte';
export { isHeldOut } from './app/runs/groups/groups';
/** The form that filters runs by a column; loaded when it is wanted. */
export const columnFilter = () => import('./app/runs/table/ColumnFilter.svelte');
/** The editor of a table's columns; loaded when it is wanted. */
export const columnEditor = () => import('./app/Columns.svelte');
export { keep, settings } from './app/settings.svelte';
export { language, locale, say, t, Texts, type Key } from './app/texts/i18n.svelte';
export { shell } from './app/shell.svelte';
export { openView, savedViews } from './app/view/views';
export { plotTheme } from './app/theme';
export * as format from './base/numbers/format';
export { aligned, padded, roomFor } from './base/numbers/align';
export { inColumn, inUnit, onAxis, ticks, time, unitFor } from './base/numbers/picoseconds';
export { oklch, PALETTE } from './base/colours';
export { parse } from './base/numbers/parse';
export { naturalCompare, splitTag, groupOf } from './base/names/natural';
export { pairTags } from './base/names/pairs';
export { copyText } from './base/clipboard';
export { Painter } from './base/painter';
export { partitionPoint } from './base/search';
export { copyLink } from './app/clipboard';
export {
  asRange,
  asSingle,
  clipPlace,
  COMMON,
  LAST,
  makePlace,
  readPlaces,
  WHOLE,
  writePlaces,
  type Place,
  type Places,
} from './base/address/place';
export { fuzzy } from './base/names/fuzzy';
export { compileRegex } from './base/names/filter';
export { default as Chart } from './widgets/chart/Chart.svelte';
export { Crosshair } from './widgets/chart/crosshair';
export { nearestIndex, xExtent, type Hit, type Line } from './widgets/chart/lines';
export { snap, spread, walk } from './widgets/chart/fobs';
export { drawnStats, type Stats, type StatPoint } from './widgets/chart/stats';
export {
  evenTicks,
  makeAxis,
  projectionOf,
  roundAt,
  symlog,
  ticksOf,
  toPixel,
  toValue,
  type Axis,
  type AxisWhat,
  type Range,
  type ScaleKind as Scale,
} from './widgets/chart/scale';
export { onPixelRatio } from './widgets/chart/ratio';
export type { Plot, PlotData, PlotTheme, PlotZoom as Zoom } from './widgets/chart/plot';
/** A chart as SVG; loaded when it is wanted. */
export const chartExport = () => import('./widgets/chart/export');
export { svgToPng, saveBlob, saveUrl } from './widgets/save';
export { inSight } from './widgets/sight';
export { sized } from './widgets/sized';
export { default as Icon } from './widgets/Icon.svelte';
export { default as FindForm } from './widgets/FindForm.svelte';
export { default as FindList } from './widgets/FindList.svelte';
export type { ColumnChoice } from './base/columns';
export type { ColumnTab } from './widgets/ColumnEditor.svelte';
export { default as Name } from './widgets/Name.svelte';
export { default as Menu } from './widgets/Menu.svelte';
export { default as MenuList, type MenuItem, type MenuPlace } from './widgets/MenuList.svelte';
export { default as Popover } from './widgets/Popover.svelte';
export { default as Dialog } from './widgets/Dialog.svelte';
export { default as VirtualList } from './widgets/VirtualList.svelte';
export { DragKind, dragPointer } from './widgets/drag';
export { default as Suggestions } from './widgets/Suggestions.svelte';
export { default as Steady } from './widgets/Steady.svelte';
export { default as Segments, type Segment } from './widgets/Segments.svelte';
export { toolbar } from './widgets/toolbar';
