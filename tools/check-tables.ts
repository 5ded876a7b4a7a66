/** Every table has one owner; the SQL of other parts does not name it, except where this file gives the reason. */
import { readFileSync } from 'node:fs';
import { finishCheck, repositoryFiles } from './repository-files.ts';

const tablesOf: Record<string, readonly string[]> = {
  core: ['events', 'quota_uses'],
  http: ['idempotency_keys'],
  tls: ['acme_accounts', 'certificates'],
  accounts: [
    'users',
    'first_account',
    'first_account_links',
    'sessions',
    'mail_tokens',
    'verification_links',
    'known_devices',
    'oauth_identities',
    'oauth_states',
    'totp_secrets',
    'passkeys',
    'recovery_codes',
    'factor_challenges',
  ],
  projects: ['projects', 'project_members', 'api_keys', 'signing_keys'],
  'end-users': ['end_users', 'revoked_tokens'],
  fleet: ['media_servers', 'fleet_watch', 'server_processes', 'node_samples'],
  rooms: ['rooms', 'room_events', 'room_nodes', 'rtc_tokens', 'rtc_token_cutoffs', 'participant_sessions'],
  chat: [
    'conversations',
    'conversation_members',
    'conversation_changes',
    'messages',
    'message_holes',
    'reactions',
    'attachments',
    'chat_connections',
    'chat_lineage',
    'chat_users',
    'message_mentions',
    'chat_erasures',
    'message_search',
    'search_pending',
    'search_backlog',
    'chat_sanctions',
    'chat_moderation',
    'chat_reports',
    'scheduled_messages',
    'message_pins',
    'link_previews',
    'poll_votes',
    'chat_deletions',
    'chat_drafts',
    'chat_blocks',
    'chat_blockers',
    'shadow_messages',
    'dormant_entries',
    'dormant_sums',
  ],
  'live-streams': ['live_streams', 'live_stream_hosts'],
  observability: [
    'connections',
    'connection_events',
    'connection_rollups',
    'classified_errors',
    'calls',
    'call_scores',
    'call_samples',
    'api_requests',
  ],
  usage: ['usage_days', 'usage_meters', 'usage_ticks', 'usage_prices'],
  audit: ['audit_entries', 'security_entries', 'api_key_networks'],
  webhooks: ['webhooks', 'deliveries'],
  push: ['push_devices', 'push_settings', 'push_preferences', 'push_jobs', 'push_deliveries'],
  alerts: ['alerts', 'alert_changes', 'alert_mails'],
  data: ['data_jobs'],
};

interface Exception {
  file: string;
  table: string;
  why: string;
}

const exceptions: readonly Exception[] = [
  {
    file: 'domains/chat/messages/send-store.ts',
    table: 'events',
    why: 'a batch of messages and its events are one round trip (ADR 82)',
  },
  {
    file: 'domains/chat/mentions/mention-sends-store.ts',
    table: 'events',
    why: 'a part of the statement of send-store.ts (ADR 82)',
  },
  {
    file: 'domains/chat/shadow/shadow-sends-store.ts',
    table: 'events',
    why: 'a part of the statement of send-store.ts (ADR 82)',
  },
  {
    file: 'domains/chat/messages/reaction-store.ts',
    table: 'events',
    why: 'a batch of reactions and its events are one round trip (ADR 82)',
  },
  {
    file: 'domains/chat/inbox/live-store.ts',
    table: 'events',
    why: 'read-only: which conversations of an environment changed lately is in no other index (ADR 185)',
  },
  {
    file: 'domains/webhooks/queue-store.ts',
    table: 'events',
    why: 'a claim reads deliveries with their events in one statement; retention removes both',
  },
  {
    file: 'domains/webhooks/delivery-store.ts',
    table: 'events',
    why: 'recovery queues the missed events of a range in one statement',
  },
  {
    file: 'domains/webhooks/event-feed-store.ts',
    table: 'events',
    why: 'the event stream pages through the outbox (ADR 23)',
  },
  {
    file: 'domains/webhooks/personal-store.ts',
    table: 'events',
    why: 'what webhooks carry is rewritten when a user is erased (ADR 203)',
  },
  {
    file: 'domains/webhooks/webhook-store.ts',
    table: 'projects',
    why: 'the insert itself refuses an archived project, without a race',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'events',
    why: 'read-only: the message behind an event',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'conversations',
    why: 'read-only: the conversation of a message',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'messages',
    why: 'read-only: a message that is gone is not told of',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'conversation_members',
    why: 'read-only: a page of members with their devices is one statement',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'message_mentions',
    why: 'read-only: whom a message mentions, with the members of a page',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'end_users',
    why: 'read-only: who was shut out is not told',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'chat_sanctions',
    why: 'read-only: who is banned from chat is not told',
  },
  {
    file: 'domains/push/fan-out-store.ts',
    table: 'chat_blocks',
    why: 'read-only: who has blocked the sender is not told',
  },
  {
    file: 'domains/push/queue-store.ts',
    table: 'conversations',
    why: 'read-only: a claim reads notifications with what they say',
  },
  {
    file: 'domains/push/queue-store.ts',
    table: 'messages',
    why: 'read-only: a claim reads notifications with what they say',
  },
  {
    file: 'domains/push/queue-store.ts',
    table: 'conversation_members',
    why: 'read-only: what was read meanwhile is not sent',
  },
  {
    file: 'domains/push/queue-store.ts',
    table: 'chat_users',
    why: 'read-only: the name of a sender',
  },
  {
    file: 'domains/alerts/alert-store.ts',
    table: 'projects',
    why: 'read-only: alerts of archived projects are not evaluated',
  },
  {
    file: 'domains/rooms/room-store.ts',
    table: 'projects',
    why: 'the insert itself refuses an archived project, without a race',
  },
  {
    file: 'domains/rooms/room-store.ts',
    table: 'media_servers',
    why: 'read-only: the region of a room is that of its node',
  },
  {
    file: 'domains/projects/member-store.ts',
    table: 'users',
    why: 'read-only: a page of members with their names is one statement',
  },
  {
    file: 'domains/live-streams/stream-store.ts',
    table: 'rooms',
    why: 'read-only: peaks of all streams are raised in one statement',
  },
  {
    file: 'domains/observability/connection-store.ts',
    table: 'rooms',
    why: 'read-only: a batch of connections gets its room names in the insert',
  },
  {
    file: 'domains/observability/connection-store.ts',
    table: 'projects',
    why: 'read-only: telemetry of a removed project is dropped in the insert',
  },
  {
    file: 'domains/observability/connection-store.ts',
    table: 'participant_sessions',
    why: 'read-only: connections whose stay ended are found by a join',
  },
  {
    file: 'domains/observability/calls/call-store.ts',
    table: 'participant_sessions',
    why: 'read-only: a connection belongs to the call of its stay',
  },
  {
    file: 'domains/usage/usage-store.ts',
    table: 'participant_sessions',
    why: 'a stay is metered and marked in one statement, so that it counts exactly once',
  },
  {
    file: 'domains/usage/usage-store.ts',
    table: 'rtc_tokens',
    why: 'read-only: minutes belong to the API key of the token',
  },
  {
    file: 'domains/usage/meter-store.ts',
    table: 'participant_sessions',
    why: 'read-only: stays that have not ended count up to now',
  },
  { file: 'domains/usage/meter-store.ts', table: 'rooms', why: 'read-only: minutes of recorded rooms' },
  {
    file: 'domains/usage/meter-store.ts',
    table: 'quota_uses',
    why: 'read-only: the quota knows how many bytes of a project are stored',
  },
  { file: 'domains/usage/usage-store.ts', table: 'rooms', why: 'read-only: a report of stays with their room names' },
];

const root = 'apps/server/src/';
const ownerOf = new Map(Object.entries(tablesOf).flatMap(([owner, tables]) => tables.map((table) => [table, owner])));

/** Tables that exist after all migrations. */
function migratedTables(): Set<string> {
  const tables = new Set<string>();
  for (const path of repositoryFiles('apps/server/migrations/*.sql')) {
    const statements = /\b(create|drop)\s+table\s+(?:if\s+(?:not\s+)?exists\s+)?([a-z_]+)/gi;
    for (const [, verb = '', table = ''] of readFileSync(path, 'utf8').matchAll(statements))
      if (verb.toLowerCase() === 'create') tables.add(table);
      else tables.delete(table);
  }
  return tables;
}

/** The known tables that a file's SQL reads or writes, one for each mention. */
function tablesNamedIn(path: string): string[] {
  const mentions = /\b(?:from|join|into|update|using|truncate|table)\s+(?:only\s+)?([a-z_]+)\b/gi;
  return [...readFileSync(path, 'utf8').matchAll(mentions)]
    .map(([, table = '']) => table)
    .filter((table) => ownerOf.has(table));
}

/** `chat` for domains/chat/…, else the folder: `core`, `http`, `adapters`. */
const partOf = (file: string): string => /^domains\/([^/]+)\//.exec(file)?.[1] ?? file.split('/')[0] ?? '';

const problems: string[] = [];
const migrated = migratedTables();
for (const table of migrated)
  if (!ownerOf.has(table)) problems.push(`table ${table} has no owner in tools/check-tables.ts`);
for (const table of ownerOf.keys()) if (!migrated.has(table)) problems.push(`table ${table} is in no migration`);

const sources = repositoryFiles(`${root}*.ts`).filter((path) => !/\.(test|contract)\.ts$/.test(path));
const needed = new Set<Exception>();
let mentions = 0;
for (const path of sources) {
  const file = path.slice(root.length);
  for (const table of tablesNamedIn(path)) {
    mentions += 1;
    if (ownerOf.get(table) === partOf(file)) continue;
    const exception = exceptions.find((one) => one.file === file && one.table === table);
    if (exception) needed.add(exception);
    else problems.push(`${path} names ${table}, which belongs to ${ownerOf.get(table)}`);
  }
}
for (const exception of exceptions)
  if (!needed.has(exception))
    problems.push(`${exception.file} names ${exception.table} no longer: remove the exception`);
if (migrated.size < 30 || mentions < 200)
  problems.push(`saw only ${migrated.size} tables and ${mentions} mentions in SQL: the check is broken`);

finishCheck(problems, `${migrated.size} tables, named ${mentions} times, ${exceptions.length} exceptions`);
