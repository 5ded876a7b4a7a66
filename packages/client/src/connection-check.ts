import type { CheckOptions, CheckStep } from './check-types.ts';
import type { asSvcError, MediaError, PermissionError } from './errors.ts';
import type { createTestTracks, TestTracks } from './media/test-tracks.ts';
import type { Room } from './room.ts';
import type { ROOM_MESSAGES } from './signal/room-messages.ts';

/** Given, not imported: what this file and the SDK both import would be split off, at the cost of every page. */
export interface CheckParts {
  asSvcError: typeof asSvcError;
  MediaError: typeof MediaError;
  PermissionError: typeof PermissionError;
  Room: typeof Room;
  createTestTracks: typeof createTestTracks;
  ROOM_MESSAGES: typeof ROOM_MESSAGES;
}

let sdk: CheckParts;

type Outcome = { detail?: string; skipped?: boolean };

export async function* runCheck(parts: CheckParts, options: CheckOptions): AsyncGenerator<CheckStep> {
  sdk = parts;
  const { url, token, devices = true } = options;
  yield await run('browser', checkBrowser);
  yield await run('secureContext', checkSecureContext);
  const room = new sdk.Room({ url, token, reconnect: false, adaptiveStream: false });
  try {
    const signaling = await run('signaling', () => room.connect());
    yield signaling;
    const isIn = signaling.status === 'ok';
    const media = isIn ? await run('media', () => checkMedia(room)) : skipped('media', 'signaling');
    yield media;
    if (!isIn) yield skipped('data', 'signaling');
    else yield media.status === 'failed' ? skipped('data', 'media') : await run('data', () => checkData(room));
  } finally {
    await room.leave();
  }
  if (!devices) return;
  yield await run('camera', () => checkDevice('videoinput'));
  yield await run('microphone', () => checkDevice('audioinput'));
}

// biome-ignore lint/suspicious/noConfusingVoidType: a step that has nothing to say returns nothing.
async function run(name: CheckStep['name'], work: () => Promise<Outcome | void> | Outcome | void): Promise<CheckStep> {
  const startedAt = performance.now();
  const ms = (): number => Math.round(performance.now() - startedAt);
  try {
    const { detail, skipped = false } = (await work()) ?? {};
    return { name, status: skipped ? 'skipped' : 'ok', ms: ms(), ...(detail ? { detail } : {}) };
  } catch (error) {
    return { name, status: 'failed', ms: ms(), error: sdk.asSvcError(error) };
  }
}

const skipped = (name: CheckStep['name'], needs: 'signaling' | 'media'): CheckStep => ({
  name,
  status: 'skipped',
  ms: 0,
  detail: `Needs a ${needs} connection.`,
});

function checkBrowser(): void {
  const missing = ['WebSocket', 'RTCPeerConnection', 'MediaStream'].filter((name) => !(name in globalThis));
  if (missing.length === 0) return;
  const message = `This browser lacks ${missing.join(', ')}. Use a current Chrome, Edge, Firefox or Safari.`;
  throw new sdk.MediaError({ code: 'browser_unsupported', message });
}

function checkSecureContext(): void {
  if (globalThis.isSecureContext) return;
  const message = `Camera and microphone need https or localhost; this page is on ${location.origin}.`;
  throw new sdk.MediaError({ code: 'insecure_context', message });
}

async function checkMedia(room: Room): Promise<Outcome> {
  const mayPublish = room.self.permissions?.publish ?? false;
  if (!mayPublish && !room.self.permissions?.subscribe)
    return { skipped: true, detail: 'The token allows neither to publish nor to subscribe.' };
  const test = mayPublish ? sdk.createTestTracks({ label: 'Connection check', width: 320, height: 180 }) : null;
  try {
    if (test) await publishEither(room, test);
    const transport = await until(() => transportOf(room), sdk.ROOM_MESSAGES.no_media ?? '');
    return { detail: transport };
  } finally {
    test?.stop();
  }
}

/** Whichever kind the token allows. */
async function publishEither(room: Room, { video, audio }: TestTracks): Promise<void> {
  try {
    await room.self.publish(video);
  } catch (error) {
    if (!(error instanceof sdk.PermissionError)) throw error;
    await room.self.publish(audio);
  }
}

async function checkData(room: Room): Promise<Outcome> {
  if (!room.self.permissions?.publishData) return { skipped: true, detail: 'The token does not allow data.' };
  await until(async () => {
    const { sub } = await room.getStats();
    return reportsOf(sub, 'data-channel').some(({ state }) => state === 'open');
  }, 'No data channel opened.');
  return {};
}

/** `udp` or `relay/tcp`, once packets have been answered. */
async function transportOf(room: Room): Promise<string | undefined> {
  const { pub, sub } = await room.getStats();
  for (const report of [pub, sub]) {
    const pair = reportsOf(report, 'candidate-pair').find(({ state, nominated }) => nominated && state === 'succeeded');
    const local = pair && reportsOf(report, 'local-candidate').find(({ id }) => id === pair['localCandidateId']);
    if (local)
      return local['candidateType'] === 'relay' ? `relay/${local['relayProtocol']}` : String(local['protocol']);
  }
  return undefined;
}

const reportsOf = (report: RTCStatsReport | null, type: string): Record<string, unknown>[] =>
  [...(report?.values() ?? [])].filter((entry) => entry.type === type);

async function checkDevice(kind: MediaDeviceKind): Promise<Outcome> {
  const found = (await navigator.mediaDevices.enumerateDevices()).filter((device) => device.kind === kind);
  if (found.length > 0) return { detail: `${found.length} found` };
  throw new sdk.MediaError({
    code: 'device_not_found',
    message: 'None was found. Connect one, then check again.',
  });
}

const WAIT_MS = 10_000;
const LOOK_EVERY_MS = 100;

async function until<T>(look: () => Promise<T | undefined | false>, message: string): Promise<T> {
  for (const startedAt = performance.now(); performance.now() - startedAt < WAIT_MS; ) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new sdk.MediaError({ code: 'no_media', message });
}
