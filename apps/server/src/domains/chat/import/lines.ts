import { fail, type ImportedMessage, type ImportLine, importLines, type Limits, ServiceError } from '@parley/contract';
import { metadataJson, readJson } from '../../../core/safe-json.ts';
import { compileParser, refuse } from '../../../core/validation.ts';
import { assertTextFits } from '../messages/draft-rules.ts';
import { normalEmoji } from '../messages/reactions.ts';
import { looksLikeId } from '../references.ts';

/** What is wrong with a line, for who made the file. */
export class LineProblem extends Error {
  override name = 'LineProblem';

  constructor(line: number, problem: string) {
    super(`Line ${line}: ${problem}`);
  }
}

export interface NumberedLine<L extends ImportLine = ImportLine> {
  line: number;
  record: L;
}

const parsers = Object.fromEntries(
  Object.entries(importLines).map(([kind, schema]) => [kind, compileParser(schema, 'line')]),
);
const kinds = Object.keys(importLines).join(', ');

/** One line, checked as far as a line can be checked alone. */
export function readLine(bytes: Uint8Array, line: number, limits: Limits, now: number): NumberedLine {
  try {
    const value = readJson(bytes);
    const kind = typeof value === 'object' && value !== null && 'kind' in value ? String(value.kind) : '';
    const parse = Object.hasOwn(parsers, kind) ? parsers[kind] : undefined;
    if (!parse) return refuse([{ field: 'kind', rule: 'enum', message: `kind must be one of ${kinds}.` }]);
    // The parser has seen that it is one.
    const record = parse(value) as unknown as ImportLine;
    assertLine(record, limits, now);
    return { line, record };
  } catch (error) {
    if (error instanceof ServiceError) throw new LineProblem(line, messageOf(error));
    throw error;
  }
}

/** The first thing that is wrong says more than that something is. */
function messageOf({ fields, message }: ServiceError): string {
  const { details } = fields as { details?: readonly { message: string }[] };
  return details?.[0]?.message ?? message;
}

function assertLine(record: ImportLine, limits: Limits, now: number): void {
  if ('metadata' in record && record.metadata) metadataJson(record.metadata, limits.CHAT_MAX_METADATA_BYTES);
  for (const field of ['createdAt', 'editedAt', 'deletedAt', 'joinedAt', 'at'] as const) {
    const time = (record as { [Name in typeof field]?: string | null })[field];
    if (time && !(Date.parse(time) >= 0 && Date.parse(time) <= now))
      refuse([{ field, rule: 'past', message: `${field} must be a time between 1970 and now.` }]);
  }
  if (record.kind === 'conversation' && looksLikeId(record.name))
    refuse([{ field: 'name', rule: 'pattern', message: 'name must not look like an id (conv_…, room_… or a uuid).' }]);
  if (record.kind === 'reaction') record.emoji = normalEmoji(record.emoji);
  if (record.kind === 'message') assertContent(record, limits);
}

function assertContent({ type = 'text', text, metadata, deletedAt }: ImportedMessage, limits: Limits): void {
  if (text) assertTextFits(text, limits.CHAT_MAX_TEXT_LENGTH);
  if (deletedAt || text || (type === 'custom' && metadata)) return;
  fail('SVC_VALIDATION_FAILED', {
    details: [{ field: 'text', rule: 'required', message: `A message of type ${type} needs text.` }],
  });
}
