"""The custom scalars dashboard; programs import summary and layout_pb2 from here."""
