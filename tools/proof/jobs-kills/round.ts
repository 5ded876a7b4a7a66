import { randomBytes } from 'node:crypto';
import type { ImportLine, Message, ScheduledMessage } from '@parley/contract';
import { type Api, createApi } from '@parley/server';
import type { ChatFleet } from '../../../apps/server/testkit/chat/fleet.ts';
import { eventually } from '../../../apps/server/testkit/kit/eventually.ts';

const scheduledCount = 100;
const roomCount = 4;
const historyCount = 1_500;
const importCount = 3_000;
const filesEach = 3;

export interface StoredFile {
  id: string;
  content: string;
  userId: string;
}

/** The three people of a history: one is exported, one is erased, of the third nothing may change. */
export interface People {
  kept: string;
  exported: string;
  erased: string;
}

/** What was asked for and acknowledged before the kill. */
export interface Asked {
  rooms: readonly string[];
  scheduled: readonly ScheduledMessage[];
  people: People;
  history: {
    room: string;
    before: readonly Message[];
    files: readonly StoredFile[];
    /** What the two that stay have read. */
    marks: readonly (number | null)[];
  };
  imported: { room: string; lines: readonly ImportLine[] };
  jobs: { export: string; erasure: string; import: string };
}

type ImportedText = Extract<ImportLine, { kind: 'message' }>;
export const messagesIn = (lines: readonly ImportLine[]): ImportedText[] =>
  lines.filter((line): line is ImportedText => line.kind === 'message');

const minute = (number: number): string => new Date(Date.UTC(2020, 0, 1, 0, number)).toISOString();
const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
const some = (): number => Math.floor(Math.random() * 2);

/** A conversation as it comes from elsewhere, with a reaction of each member to every fifth message. */
function linesOf(name: string, writers: readonly string[], count: number, reader?: string): ImportLine[] {
  const members = reader === undefined ? writers : [...writers, reader];
  const of = { conversation: name };
  const messages = Array.from({ length: count }, (_, at): ImportLine => {
    const senderId = writers[at % writers.length] ?? null;
    return { kind: 'message', ...of, externalId: `M${at}`, senderId, text: `${name} ${at}`, createdAt: minute(at) };
  });
  const reactions = members.flatMap((userId) =>
    Array.from({ length: count / 5 }, (_, at): ImportLine => {
      return { kind: 'reaction', ...of, message: `M${at * 5}`, userId, emoji: '👍', createdAt: minute(at * 5 + 1) };
    }),
  );
  const reads = members.map((userId, at): ImportLine => {
    return { kind: 'read', ...of, message: `M${count - 1 - 25 * at}`, userId, at: minute(count) };
  });
  const conversation: ImportLine = {
    kind: 'conversation',
    externalId: name,
    name,
    createdAt: minute(0),
    members: [...members],
  };
  return [conversation, ...messages, ...reactions, ...reads];
}

/** Uploads a file for an import; what is returned starts it. */
async function uploaded(fleet: ChatFleet, lines: readonly ImportLine[]): Promise<() => Promise<string>> {
  const body = lines.map((line) => JSON.stringify(line)).join('\n');
  const { job, uploadUrl, headers } = await fleet
    .api(0)
    .call('importConversations', { body: { size: Buffer.byteLength(body) } });
  await put(fleet, uploadUrl, headers, body);
  return async () => (await fleet.api(some()).call('startImport', { jobId: job.id })).id;
}

/** The processes do not listen where PUBLIC_URL says. */
export const reachable = (fleet: ChatFleet, url: string): string => url.replace(/^https?:\/\/[^/]+/, fleet.url(0));

async function put(fleet: ChatFleet, url: string, headers: Record<string, string>, body: string): Promise<void> {
  const answer = await fetch(reachable(fleet, url), { method: 'PUT', headers, body });
  if (!answer.ok) throw new Error(`an upload was answered with ${answer.status}: ${await answer.text()}`);
}

async function apiOf(fleet: ChatFleet, userId: string): Promise<Api> {
  return createApi({ baseUrl: fleet.url(0), credential: await fleet.tokenOf(userId) });
}

async function sendFiles(fleet: ChatFleet, room: string, userId: string): Promise<StoredFile[]> {
  const api = await apiOf(fleet, userId);
  const files: StoredFile[] = [];
  while (files.length < filesEach) {
    const content = `file ${files.length} of ${userId}`;
    const body = { filename: 'a.txt', mimeType: 'text/plain', size: content.length };
    const { attachment, uploadUrl, headers } = await api.call('requestAttachment', { room, body });
    await put(fleet, uploadUrl, headers, content);
    await api.call('completeAttachment', { attachmentId: attachment.id });
    await api.call('sendMessage', { room, body: { text: content, attachmentId: attachment.id } });
    files.push({ id: attachment.id, content, userId });
  }
  return files;
}

/** Everything of a conversation, oldest first. */
export async function messagesOf(api: Api, room: string): Promise<Message[]> {
  const all: Message[] = [];
  let before: string | undefined;
  for (;;) {
    const query = { limit: 100, ...(before === undefined ? {} : { before }) };
    const { messages, nextCursor } = await api.call('listMessages', { room, query });
    all.push(...messages);
    if (nextCursor === null) return all.reverse();
    before = nextCursor;
  }
}

export const marksOf = (api: Api, room: string, userIds: readonly string[]): Promise<(number | null)[]> =>
  Promise.all(userIds.map(async (userId) => (await api.call('getReadState', { room, query: { userId } })).lastReadSeq));

/** A history of three people, which is there before anything is killed. */
async function makeHistory(fleet: ChatFleet, name: string, people: People): Promise<Asked['history']> {
  const api = fleet.api(0);
  const members = Object.values(people);
  const jobId = await (await uploaded(fleet, linesOf(name, members, historyCount)))();
  await eventually(async () => (await api.call('getDataJob', { jobId })).state === 'DONE', {
    withinMs: 120_000,
    everyMs: 250,
  });
  const { id: room } = await api.call('getConversation', { room: name });
  const files: StoredFile[] = [];
  for (const userId of members) files.push(...(await sendFiles(fleet, room, userId)));
  const marks = await marksOf(api, room, [people.kept, people.exported]);
  return { room, before: await messagesOf(api, room), files, marks };
}

/** Due within two seconds, by the key and by a user's own token, through both processes. */
async function schedule(fleet: ChatFleet, rooms: readonly string[], room: string, erased: string) {
  const [ada, gone] = [await apiOf(fleet, 'ada'), await apiOf(fleet, erased)];
  const at = () => new Date(Date.now() + 700 + Math.random() * 1_300).toISOString();
  // Sent or not, nothing of them is left in the end.
  const doomed = [gone.call('scheduleMessage', { room, body: { text: 'too late', sendAt: at() } })];
  doomed.push(
    fleet.api(1).call('scheduleMessage', { room, body: { text: 'too late', senderId: erased, sendAt: at() } }),
  );
  const counted = Promise.all(
    Array.from({ length: scheduledCount }, (_, index) => {
      const target = rooms[index % rooms.length] as string;
      const body = { text: `scheduled ${index}`, sendAt: at() };
      if (index % 3 === 0) return ada.call('scheduleMessage', { room: target, body });
      return fleet.api(index).call('scheduleMessage', { room: target, body: { ...body, senderId: 'ben' } });
    }),
  );
  const [scheduled] = await Promise.all([counted, ...doomed]);
  return scheduled;
}

/** Asks for all of it at once; everything is acknowledged when this returns, and most of it still to be done. */
export async function ask(fleet: ChatFleet, round: number): Promise<Asked> {
  const own = randomBytes(6).toString('hex');
  const people: People = { kept: `kept-${own}`, exported: `exported-${own}`, erased: `erasable-${own}` };
  const history = await makeHistory(fleet, `history-${round}`, people);
  const rooms: string[] = [];
  while (rooms.length < roomCount) rooms.push((await fleet.again()).room);
  const lines = linesOf(`import-${round}`, ['ida', 'ivo'], importCount, 'ian');
  const startImport = await uploaded(fleet, lines);
  const scheduled = await schedule(fleet, rooms, history.room, people.erased);
  const jobs = { export: '', erasure: '', import: '' };
  const { exported, erased } = people;
  const begin = {
    export: async () => (await fleet.api(some()).call('exportUser', { userId: exported })).id,
    erasure: async () =>
      (await fleet.api(some()).call('eraseUser', { userId: erased, body: { messages: 'delete' } })).id,
    import: startImport,
  };
  // In any order: a process does one after the other.
  for (const name of shuffled(Object.keys(jobs) as (keyof typeof jobs)[])) jobs[name] = await begin[name]();
  return { rooms, scheduled, people, history, imported: { room: `import-${round}`, lines }, jobs };
}
