import {
  type CreateLiveStream,
  fail,
  type LiveStream,
  type LiveStreamWithHosts,
  liveStreamMachine,
  nextState,
  type UpdateLiveStream,
} from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../core/cursors.ts';
import type { Db, Reader } from '../../core/db.ts';
import { type Answer, page } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import { metadataJson } from '../../core/safe-json.ts';
import type { UnitOfWork } from '../../core/unit-of-work.ts';
import { refuse } from '../../core/validation.ts';
import type { Chat } from '../chat/index.ts';
import type { Standing } from '../end-users/index.ts';
import type { Rooms } from '../rooms/index.ts';
import { listHosts, upsertHost } from './host-store.ts';
import {
  findStream,
  insertStream,
  isSweepDue,
  listStreams,
  listUnfinalized,
  markFinalized,
  moveStream,
  raisePeak,
  raisePeaks,
  type StoredStream,
  type StreamFilter,
  updateStream,
} from './stream-store.ts';

export interface StreamDeps {
  db: Db;
  replicated: ReplicatedReads;
  unitOfWork: UnitOfWork;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  log: Log;
  rooms: Rooms;
  chat: Chat;
  standing: Pick<Standing, 'issue'>;
}

const metadataBytesMax = 4_096;
/** A schedule may lie this far in the past: clocks differ. */
const scheduleSkewMs = 5 * 60 * 1000;

export type Streams = ReturnType<typeof createStreams>;

export function createStreams({ db, unitOfWork, clock, ids, cursors, log, rooms, chat }: StreamDeps) {
  const get = async (scope: ProjectScope, id: string): Promise<StoredStream> =>
    (await findStream(db, scope, id)) ?? fail('SVC_STREAM_NOT_FOUND');

  /** Viewers in the room; null when its media node cannot be asked. */
  async function countViewers(scope: ProjectScope, stream: StoredStream): Promise<number | null> {
    if (stream.status === 'ENDED') return 0;
    const viewers = await rooms.participants.countViewers(scope, stream.roomId).catch(() => null);
    if (viewers !== null && viewers > stream.peakViewerCount) await raisePeak(db, stream.id, viewers);
    return viewers;
  }

  async function record(scope: ProjectScope, stream: StoredStream): Promise<LiveStream> {
    const viewerCount = await countViewers(scope, stream);
    const { id, startedAt, endedAt } = stream;
    return {
      ...stream,
      publicId: id,
      streamId: id,
      viewerCount,
      peakViewerCount: Math.max(stream.peakViewerCount, viewerCount ?? 0),
      durationMs: durationOf(startedAt, endedAt),
    };
  }

  async function create(scope: ProjectScope, body: CreateLiveStream): Promise<LiveStream> {
    metadataJson(body.metadata ?? {}, metadataBytesMax);
    const scheduledAt = readSchedule(body.scheduledAt, clock.now());
    const id = ids.newId('stream');
    const at = iso(clock.now());
    const stored = await unitOfWork(scope, async (tx, emit) => {
      const room = await rooms.rooms.provision(tx, scope, { name: id, liveStreamId: id });
      const host = { userId: body.hostIdentity, role: 'MODERATOR' as const, metadata: {} };
      const conversation = await chat.provision(tx, emit, scope, {
        name: id,
        type: 'ROOM',
        roomId: room.id,
        liveStreamId: id,
        members: [host],
        metadata: {},
      });
      await rooms.attachConversation(tx, scope, room.id, conversation.id);
      const stream = await insertStream(tx, scope, {
        id,
        title: body.title,
        description: body.description ?? null,
        thumbnailUrl: body.thumbnailUrl ?? null,
        category: body.category ?? null,
        tags: body.tags ?? [],
        language: body.language ?? null,
        visibility: body.visibility ?? 'PUBLIC',
        metadata: body.metadata ?? {},
        hostIdentity: body.hostIdentity,
        roomId: room.id,
        roomName: room.name,
        conversationId: conversation.id,
        conversationUuid: conversation.uuid,
        scheduledAt,
        createdAt: at,
      });
      await upsertHost(tx, id, { identity: body.hostIdentity, role: 'HOST', at });
      const { title, visibility, hostIdentity, createdAt } = stream;
      emit({ type: 'live_stream.created', data: { streamId: id, title, visibility, hostIdentity, createdAt } });
      return stream;
    });
    return record(scope, stored);
  }

  async function list(
    scope: ProjectScope,
    { limit = pageSizeDefault, cursor, ...filter }: { limit?: number; cursor?: string } & StreamFilter,
    from: Reader = db,
  ): Promise<Answer<LiveStream[]>> {
    const cursorScope = `live-streams/${scope.projectId}/${scope.environment}`;
    const after = cursor === undefined ? null : (cursors.read(cursorScope, cursor) as [string, string]);
    const rows = await listStreams(from, scope, filter, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(cursorScope, [last.createdAt, last.id]));
    return page(await Promise.all(items.map((stream) => record(scope, stream))), nextCursor);
  }

  async function update(scope: ProjectScope, id: string, body: UpdateLiveStream): Promise<LiveStream> {
    if (body.metadata) metadataJson(body.metadata, metadataBytesMax);
    const { metadata, ...rest } = body;
    const change = { ...rest, ...(metadata === undefined ? {} : { metadata: metadata ?? {} }) };
    const stored = await db.transaction((tx) => updateStream(tx, scope, id, change, iso(clock.now())));
    return record(scope, stored ?? fail('SVC_STREAM_NOT_FOUND'));
  }

  /** One conditional write decides who moves the stream; the winner records the event in the same transaction. */
  async function move(scope: ProjectScope, id: string, action: 'start' | 'end'): Promise<StoredStream> {
    for (;;) {
      const { status: from } = await get(scope, id);
      const to = nextState(liveStreamMachine, from, action) as 'LIVE' | 'ENDED' | undefined;
      if (to === undefined)
        return fail('SVC_INVALID_STATE_TRANSITION', { from, to: action === 'start' ? 'LIVE' : 'ENDED' });
      const at = iso(clock.now());
      const moved = await unitOfWork(scope, async (tx, emit) => {
        const stream = await moveStream(tx, scope, id, from, to, at);
        if (!stream) return null;
        if (to === 'LIVE') emit({ type: 'live_stream.started', data: { streamId: id, startedAt: at } });
        else
          emit({
            type: 'live_stream.ended',
            data: { streamId: id, endedAt: at, durationMs: durationOf(stream.startedAt, at) },
          });
        return stream;
      });
      // Another caller moved it between the read and the write: retry with the new state.
      if (moved) return moved;
    }
  }

  async function end(scope: ProjectScope, id: string): Promise<LiveStream> {
    await raisePeaks(db);
    const stream = await move(scope, id, 'end');
    await finalize(scope, stream).catch((error) =>
      log.warn({ error, streamId: id }, 'stream not finalized; the sweep retries it'),
    );
    return record(scope, stream);
  }

  /** Closes the room (with its reason) and archives the conversation; idempotent. */
  async function finalize(
    scope: ProjectScope,
    { id, roomId, conversationUuid }: Pick<StoredStream, 'id' | 'roomId' | 'conversationUuid'>,
  ): Promise<void> {
    await rooms.rooms.close(scope, roomId, 'STREAM_ENDED');
    await chat.archive(scope, conversationUuid);
    await markFinalized(db, scope, id);
  }

  async function sweep(): Promise<void> {
    await raisePeaks(db);
    for (const stream of await listUnfinalized(db, 100)) {
      await finalize(stream, stream).catch((error) => log.warn({ error, streamId: stream.id }, 'stream not finalized'));
    }
  }

  return {
    find: get,
    create,
    list,
    update,
    end,
    sweep,
    isSweepDue: () => isSweepDue,
    get: async (scope: ProjectScope, id: string): Promise<LiveStream> => record(scope, await get(scope, id)),
    detail: async (scope: ProjectScope, id: string): Promise<LiveStreamWithHosts> => ({
      ...(await record(scope, await get(scope, id))),
      hosts: await listHosts(db, id),
    }),
    start: async (scope: ProjectScope, id: string): Promise<LiveStream> =>
      record(scope, await move(scope, id, 'start')),
  };
}

/** Null for a stream that never started or has not ended. */
const durationOf = (startedAt: string | null, endedAt: string | null): number | null =>
  startedAt === null || endedAt === null ? null : Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));

const isoPattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function readSchedule(text: string | undefined, now: number): string | null {
  if (text === undefined) return null;
  const time = isoPattern.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time))
    return refuse([
      { field: 'scheduledAt', rule: 'format', message: 'scheduledAt must be an ISO 8601 time with its offset.' },
    ]);
  if (time < now - scheduleSkewMs)
    return refuse([{ field: 'scheduledAt', rule: 'past', message: 'scheduledAt lies in the past.' }]);
  return iso(time);
}
