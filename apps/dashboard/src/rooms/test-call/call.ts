import { createTestTracks, Room, type TestTracks } from '@parley/client';
import type { RtcToken } from '@parley/contract';

/** What this page sends: the moving card and tone, or real devices. */
export type Source = { kind: 'pattern' } | { kind: 'devices'; cameraId: string; microphoneId: string };

export type Mint = (identity: string) => Promise<RtcToken>;

/** One connection of this page, and how long its token holds. */
export interface Call {
  room: Room;
  token: RtcToken;
  /** Says when another token was taken: the server renews it while the call goes on. */
  onRenewed(listener: (expiresAt: number) => void): () => void;
  leave(): Promise<void>;
}

export const newIdentity = (prefix: string): string => `${prefix}-${crypto.randomUUID().slice(0, 6)}`;

/** Joins and publishes; when anything of it fails, nothing is left open. */
export async function startCall(mint: Mint, identity: string, source: Source): Promise<Call> {
  const token = await mint(identity);
  const room = new Room({ url: location.origin, token: token.token });
  let tests: TestTracks | null = null;
  const leave = async (): Promise<void> => {
    await room.leave();
    tests?.stop();
  };
  try {
    await room.connect({ timeoutMs: 15_000 });
    if (source.kind === 'pattern') {
      tests = createTestTracks({ label: identity });
      await publishTests(room, tests);
    } else {
      await room.self.setMicrophone(true, withDevice(source.microphoneId));
      await room.self.setCamera(true, withDevice(source.cameraId));
    }
  } catch (error) {
    await leave();
    throw error;
  }
  return {
    room,
    token,
    leave,
    onRenewed: (listener) => room.on('tokenExpiring', () => listener(Date.now() + token.expiresIn * 1000)),
  };
}

const withDevice = (deviceId: string): { deviceId?: string } => (deviceId === '' ? {} : { deviceId });

async function publishTests({ self }: Room, { video, audio }: TestTracks): Promise<void> {
  await self.publish(video, { source: 'CAMERA' });
  await self.publish(audio, { source: 'MICROPHONE' });
}

/** A second real connection from this page: what it sends comes back through the media node. */
export async function startGuest(mint: Mint): Promise<{ identity: string; leave(): Promise<void> }> {
  const identity = newIdentity('test');
  const { token } = await mint(identity);
  const room = new Room({ url: location.origin, token, autoSubscribe: false });
  const tests = createTestTracks({ label: identity, width: 640, height: 360, frameRate: 24 });
  const leave = async (): Promise<void> => {
    await room.leave();
    tests.stop();
  };
  try {
    await room.connect({ timeoutMs: 15_000 });
    await publishTests(room, tests);
  } catch (error) {
    await leave();
    throw error;
  }
  return { identity, leave };
}
