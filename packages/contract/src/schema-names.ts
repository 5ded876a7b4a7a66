import * as factorSchemas from './accounts/factor-schemas.ts';
import * as accountSchemas from './accounts/schemas.ts';
import * as alertSchemas from './alerts/schemas.ts';
import * as auditSchemas from './audit/schemas.ts';
import * as attachmentSchemas from './chat/attachment-schemas.ts';
import * as blockSchemas from './chat/block-schemas.ts';
import * as chatDashboardSchemas from './chat/dashboard-schemas.ts';
import * as directSchemas from './chat/direct-schemas.ts';
import * as draftSchemas from './chat/draft-schemas.ts';
import * as chatEnums from './chat/enums.ts';
import * as fileSchemas from './chat/file-schemas.ts';
import * as forwardSchemas from './chat/forward-schemas.ts';
import * as inboxSchemas from './chat/inbox-schemas.ts';
import * as mentionSchemas from './chat/mention-schemas.ts';
import * as chatModerationSchemas from './chat/moderation-schemas.ts';
import * as pinSchemas from './chat/pin-schemas.ts';
import * as pollSchemas from './chat/poll-schemas.ts';
import * as scheduledSchemas from './chat/scheduled-schemas.ts';
import * as chatSchemas from './chat/schemas.ts';
import * as searchSchemas from './chat/search-schemas.ts';
import * as chatUserSchemas from './chat/user-schemas.ts';
import * as importSchemas from './data/import-schemas.ts';
import * as dataSchemas from './data/schemas.ts';
import * as endUserSchemas from './end-users/schemas.ts';
import * as enums from './enums.ts';
import * as fleetEnums from './fleet/enums.ts';
import * as fleetSchemas from './fleet/schemas.ts';
import * as liveStreamEnums from './live-streams/enums.ts';
import * as liveStreamSchemas from './live-streams/schemas.ts';
import * as callSchemas from './observability/call-schemas.ts';
import * as observabilityEnums from './observability/enums.ts';
import * as requestSchemas from './observability/request-schemas.ts';
import * as observabilitySchemas from './observability/schemas.ts';
import * as projectSchemas from './projects/schemas.ts';
import * as signingKeys from './projects/signing-keys.ts';
import * as pushSchemas from './push/schemas.ts';
import * as roomEnums from './rooms/enums.ts';
import * as roomSchemas from './rooms/schemas.ts';
import * as usageMeters from './usage/meters.ts';
import * as usageSchemas from './usage/schemas.ts';
import * as webhookSchemas from './webhooks/schemas.ts';

const exported: Readonly<Record<string, unknown>> = {
  ...enums,
  ...accountSchemas,
  ...factorSchemas,
  ...projectSchemas,
  ...signingKeys,
  ...auditSchemas,
  ...endUserSchemas,
  ...dataSchemas,
  ...importSchemas,
  ...fleetEnums,
  ...fleetSchemas,
  ...roomEnums,
  ...roomSchemas,
  ...liveStreamEnums,
  ...liveStreamSchemas,
  ...observabilityEnums,
  ...observabilitySchemas,
  ...callSchemas,
  ...requestSchemas,
  ...usageSchemas,
  ...usageMeters,
  ...webhookSchemas,
  ...alertSchemas,
  ...chatEnums,
  ...chatSchemas,
  ...fileSchemas,
  ...inboxSchemas,
  ...searchSchemas,
  ...chatModerationSchemas,
  ...chatDashboardSchemas,
  ...pushSchemas,
  ...attachmentSchemas,
  ...directSchemas,
  ...mentionSchemas,
  ...chatUserSchemas,
  ...scheduledSchemas,
  ...pinSchemas,
  ...pollSchemas,
  ...forwardSchemas,
  ...draftSchemas,
  ...blockSchemas,
};

/** Records and enumerations; a text or a number says more where it stands. */
const isNamed = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && ('properties' in value || 'enum' in value);

export type NameOf = (schema: object) => string | undefined;

/**
 * What the contract's modules call a schema. An optional field is a copy of its schema, so a schema that is not known
 * itself is known by its content, where only one name has it.
 */
export function createSchemaNames(): NameOf {
  const named = Object.entries(exported).flatMap(([name, value]) => (isNamed(value) ? [[name, value] as const] : []));
  const byIdentity = new Map<object, string>(named.map(([name, schema]) => [schema, name]));
  const byContent = Map.groupBy(named, ([, schema]) => JSON.stringify(schema));
  return (schema) => {
    const known = byIdentity.get(schema);
    if (known !== undefined || !isNamed(schema)) return known;
    const [first, ...others] = byContent.get(JSON.stringify(schema)) ?? [];
    return others.length === 0 ? first?.[0] : undefined;
  };
}
