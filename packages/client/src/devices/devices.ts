import { capture, mediaDevices } from '../media/capture.ts';
import { createStore, type Store } from '../store.ts';
import { type DeviceKind, type DevicesState, KINDS, stateOf } from './device-list.ts';

export interface DevicesOptions {
  /** Where choices are remembered. Default `localStorage`; null: nowhere. */
  storage?: Pick<Storage, 'getItem' | 'setItem'> | null;
}

/** Microphones, cameras and speakers, and which of them to use. Give it to rooms as `devices`. */
export interface Devices {
  readonly state: Store<DevicesState>;
  /** Asks for permission, so that labels can be read. Rejects with a `MediaError` whose message is for the user. */
  request(kinds?: readonly ('microphone' | 'camera')[]): Promise<void>;
  /** Remembered, and used at once by every room that has these devices; rejects and changes nothing if it cannot be opened. */
  choose(kind: DeviceKind, deviceId: string): Promise<void>;
  /** Runs before a choice counts; `choose()` waits for it. Rooms do it by themselves; for a preview of your own. */
  onChoose(use: (kind: DeviceKind, deviceId: string) => Promise<void> | void): () => void;
  /** Reads the list again; needed only after a capture of your own was allowed. */
  refresh(): Promise<void>;
  close(): void;
}

const KEY = 'parley.devices';

export function createDevices({ storage = localStorageIfAny() }: DevicesOptions = {}): Devices {
  const media = mediaDevices();
  const users = new Set<(kind: DeviceKind, deviceId: string) => Promise<void> | void>();
  let remembered = read(storage);
  let found: readonly MediaDeviceInfo[] = [];
  const state = createStore(stateOf(found, remembered));

  function update(): void {
    const next = stateOf(found, remembered);
    if (JSON.stringify(next) !== JSON.stringify(state.getSnapshot())) state.set(next);
  }

  async function refresh(): Promise<void> {
    found = (await media?.enumerateDevices().catch(() => null)) ?? found;
    update();
  }

  const refreshSoon = (): void => void refresh();
  const watching = new AbortController();
  media?.addEventListener('devicechange', refreshSoon, watching);
  watchPermissions(refreshSoon, watching);
  refreshSoon();

  return {
    state,
    async request(kinds = ['microphone', 'camera']) {
      await refresh();
      const isThere = { microphone: listHas('audioinput'), camera: listHas('videoinput') };
      // Both in one question; what is not there would make it fail.
      const there = kinds.filter((kind) => isThere[kind]);
      const asked = there.length > 0 ? there : kinds;
      const constraints = { audio: asked.includes('microphone'), video: asked.includes('camera') };
      try {
        const stream = await capture(asked.join(' or '), (devices) => devices.getUserMedia(constraints));
        for (const track of stream.getTracks()) track.stop();
      } finally {
        await refresh();
      }
    },
    async choose(kind, deviceId) {
      await Promise.all([...users].map((use) => use(kind, deviceId)));
      remembered = { ...remembered, [kind]: deviceId };
      write(storage, remembered);
      update();
    },
    onChoose(use) {
      users.add(use);
      return () => void users.delete(use);
    },
    refresh,
    close() {
      watching.abort();
      users.clear();
    },
  };

  function listHas(kind: MediaDeviceKind): boolean {
    return found.some((device) => device.kind === kind);
  }
}

/** Labels can be read once permission is given, no matter who asked for it. */
function watchPermissions(listener: () => void, options: { signal: AbortSignal }): void {
  for (const name of ['microphone', 'camera'] as const) {
    globalThis.navigator?.permissions?.query({ name }).then(
      (status) => status.addEventListener('change', listener, options),
      // An older Firefox knows neither name.
      () => {},
    );
  }
}

type Remembered = Partial<Record<DeviceKind, string>>;

/** A page that may store nothing throws at the mere question. */
function localStorageIfAny(): Storage | null {
  try {
    return globalThis.localStorage ?? null;
  } catch {
    return null;
  }
}

function read(storage: DevicesOptions['storage']): Remembered {
  try {
    const stored = JSON.parse(storage?.getItem(KEY) ?? '{}') as Remembered;
    // Anybody may have written there.
    return Object.fromEntries(KINDS.map((kind) => [kind, stored[kind]]).filter(([, id]) => typeof id === 'string'));
  } catch {
    return {};
  }
}

function write(storage: DevicesOptions['storage'], remembered: Remembered): void {
  try {
    storage?.setItem(KEY, JSON.stringify(remembered));
  } catch {
    // Full or forbidden: the choice holds for this page.
  }
}
