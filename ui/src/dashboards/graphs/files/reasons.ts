// The reasons that the server's parser of protobuf text gives (src/codec/proto/text_parse.c), and their texts here.
import type { Key } from '../en';

export const REASONS: Readonly<Record<string, Key>> = {
  'a text does not end': 'text.quote',
  'a text in quotes was expected, not': 'text.quoted',
  'a bad escape in': 'text.escape',
  'a text is not valid UTF-8': 'text.utf8',
  'a whole number was expected, not': 'text.whole',
  'out of range:': 'text.range',
  'a number was expected, not': 'text.number',
  'true or false was expected, not': 'text.flag',
  'no such value:': 'text.value',
  '{ was expected, not': 'text.brace',
  'nested too deep': 'text.deep',
  ', or ] was expected, not': 'text.list',
  'the name of a field was expected, not': 'text.name',
  'no such field:': 'text.field',
  'given more than once:': 'text.twice',
  ': was expected, not': 'text.colon',
  'a block does not end': 'text.block',
};
