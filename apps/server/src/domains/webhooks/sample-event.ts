import { allEvents, type EventType, idPrefixes } from '@parley/contract';

interface SchemaParts {
  type?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: SchemaParts[];
  properties?: Record<string, SchemaParts>;
  minimum?: number;
  items?: SchemaParts;
  minItems?: number;
}

/** `streamId` → `stream_000…`: what a receiver's own checks expect to see there. */
const prefixOf = (name: string): string => Object.entries(idPrefixes).find(([kind]) => name === `${kind}Id`)?.[1] ?? '';

/** Made-up data of an event type, in the form its table row declares. */
export const sampleData = (type: EventType, at: string): Record<string, unknown> =>
  sample(allEvents[type].data as SchemaParts, '', at) as Record<string, unknown>;

function sample(schema: SchemaParts, name: string, at: string): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return sample(schema.anyOf[0] ?? {}, name, at);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([field, part]) => [field, sample(part, field, at)]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sample(schema.items ?? {}, name, at));
    case 'integer':
    case 'number':
      return schema.minimum ?? 0;
    case 'boolean':
      return false;
    case 'string':
      return sampleText(schema, name, at);
    default:
      return null;
  }
}

function sampleText({ format }: SchemaParts, name: string, at: string): string {
  if (format === 'date-time') return at;
  if (format === 'uuid') return '00000000-0000-7000-8000-000000000000';
  return name.endsWith('Id') ? `${prefixOf(name)}${'0'.repeat(24)}` : 'test';
}
