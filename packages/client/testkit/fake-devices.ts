/** Media with what the SDK uses of it. */
export function fakeMedia(kind: 'audio' | 'video', deviceId: string): FakeMedia {
  const media = {
    kind,
    id: `${kind}-${++made}`,
    enabled: true,
    readyState: 'live',
    stop() {
      media.readyState = 'ended';
    },
    getSettings: () => ({ deviceId, width: 1280, height: 720 }),
    getCapabilities: () => ({}),
    applyConstraints: async () => {},
  };
  const target = new EventTarget();
  // It has what the SDK uses of a track.
  return Object.assign(media, {
    addEventListener: target.addEventListener.bind(target),
    dispatchEvent: target.dispatchEvent.bind(target),
  }) as unknown as FakeMedia;
}

export type FakeMedia = MediaStreamTrack & { readyState: string };

let made = 0;

export interface FakeDevices {
  /** What is connected; the browser tells it with `change()`. */
  list: { kind: MediaDeviceKind; deviceId: string; label: string; groupId: string }[];
  /** What was asked for, in order. */
  asked: MediaStreamConstraints[];
  opened: FakeMedia[];
  isAllowed: boolean;
  permission: PermissionState;
  /** The next captures fail with it. */
  failure: Error | null;
  change(): void;
  listeners: number;
  remove(): void;
}

/** Puts `mediaDevices` and `permissions` into the process's navigator until `remove()`. */
export function fakeDevices(): FakeDevices {
  const target = new EventTarget();
  const fake: FakeDevices = {
    list: [
      { kind: 'audioinput', deviceId: 'mic-1', label: 'Built-in', groupId: 'a' },
      { kind: 'audioinput', deviceId: 'mic-2', label: 'Headset', groupId: 'b' },
      { kind: 'videoinput', deviceId: 'cam-1', label: 'Webcam', groupId: 'a' },
      { kind: 'videoinput', deviceId: 'cam-2', label: 'Desk', groupId: 'c' },
      { kind: 'audiooutput', deviceId: 'out-1', label: 'Speakers', groupId: 'a' },
    ],
    asked: [],
    opened: [],
    isAllowed: true,
    permission: 'prompt',
    failure: null,
    listeners: 0,
    change: () => void target.dispatchEvent(new Event('devicechange')),
    remove: () => Object.assign(globalThis.navigator, { mediaDevices: undefined, permissions: undefined }),
  };

  function open(kind: 'audio' | 'video', constraint: boolean | MediaTrackConstraints | undefined): FakeMedia[] {
    if (!constraint) return [];
    const { deviceId } = constraint === true ? {} : constraint;
    const { exact, ideal } = (deviceId ?? {}) as { exact?: string; ideal?: string };
    const native = kind === 'audio' ? 'audioinput' : 'videoinput';
    const there = fake.list.filter((device) => device.kind === native);
    const wanted = there.find((device) => device.deviceId === (exact ?? ideal));
    if (there.length === 0) throw new DOMException('', 'NotFoundError');
    if (exact && !wanted) throw new DOMException('', 'OverconstrainedError');
    return [fakeMedia(kind, (wanted ?? there[0])?.deviceId ?? '')];
  }

  const hidden = (device: FakeDevices['list'][number]) => ({ ...device, deviceId: '', label: '' });
  const mediaDevices = {
    enumerateDevices: async () => (fake.isAllowed ? fake.list.map((one) => ({ ...one })) : fake.list.map(hidden)),
    async getUserMedia(constraints: MediaStreamConstraints) {
      fake.asked.push(constraints);
      if (fake.failure) throw fake.failure;
      const tracks = [...open('audio', constraints.audio), ...open('video', constraints.video)];
      fake.opened.push(...tracks);
      fake.isAllowed = true;
      return { getTracks: () => tracks };
    },
    async getDisplayMedia(constraints: MediaStreamConstraints) {
      fake.asked.push(constraints);
      if (fake.failure) throw fake.failure;
      return { getTracks: () => [fakeMedia('video', '')] };
    },
    addEventListener(type: string, listener: EventListener, options: { signal: AbortSignal }) {
      fake.listeners += 1;
      options.signal.addEventListener('abort', () => {
        fake.listeners -= 1;
      });
      target.addEventListener(type, listener, options);
    },
  };
  const permissions = {
    query: async () => Object.assign(new EventTarget(), { state: fake.permission }),
  };
  Object.defineProperties(globalThis.navigator, {
    mediaDevices: { value: mediaDevices, configurable: true, writable: true },
    permissions: { value: permissions, configurable: true, writable: true },
  });
  return fake;
}

/** Storage in memory. */
export function fakeStorage(): Pick<Storage, 'getItem' | 'setItem'> {
  const stored = new Map<string, string>();
  return { getItem: (key) => stored.get(key) ?? null, setItem: (key, value) => void stored.set(key, value) };
}
