"""The messages of TensorFlow and TensorBoard that this package reads and writes, without the protobuf library.

    event = messages.Event(step=3, summary=messages.Summary())
    event.summary.value.add(tag="loss", simple_value=0.5)
    data = event.SerializeToString()

message.py is the runtime, messages.py the table of all messages and their fields.
"""
