/** People, rooms and devices that look real: the gallery needs neither a server nor a camera. */
import type {
  Device,
  Devices,
  DevicesState,
  ParticipantState,
  Permissions,
  Room,
  RoomState,
  TrackState,
} from '@parley/client';
import { ConnectionError } from '@parley/client';
import { sampleStore } from './sample-store.ts';

const names = [
  'Ada Lovelace',
  'Grace Hopper',
  'Alan Turing',
  'Katherine Johnson',
  'Edsger Dijkstra',
  'Barbara Liskov',
  'Donald Knuth',
  'Margaret Hamilton',
  'Dennis Ritchie',
  'Frances Allen',
  'Ken Thompson',
  'Radia Perlman',
  'Tony Hoare',
  'Hedy Lamarr',
  'Claude Shannon',
];

const skins = ['#f0c9a5', '#d9a066', '#8d5a3b', '#f5d6bd', '#b87a4b', '#5e3a26'];
const walls = ['#35506b', '#5b4a6f', '#3f5d50', '#6b4b43', '#4a5568', '#5d5a3c', '#2f5961', '#704a5e'];
const shirts = ['#d9643a', '#2f7f86', '#e0b84c', '#7a5fb0', '#c9d2dc', '#3f9b6c'];

const pick = (list: readonly string[], seed: number): string => list[seed % list.length] ?? '';

/** Somebody before a wall, or a page of text for a screen. */
function draw(canvas: HTMLCanvasElement, seed: number, isScreen: boolean): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { width, height } = canvas;
  const rect = (colour: string, x: number, y: number, w: number, h: number): void => {
    context.fillStyle = colour;
    context.fillRect(x * width, y * height, w * width, h * height);
  };
  const disc = (colour: string, x: number, y: number, rx: number, ry: number): void => {
    context.fillStyle = colour;
    context.beginPath();
    context.ellipse(x * width, y * height, rx * height, ry * height, 0, 0, Math.PI * 2);
    context.fill();
  };
  if (isScreen) {
    rect('#fbfbfa', 0, 0, 1, 1);
    rect('#1f5fd0', 0, 0, 1, 0.08);
    rect('#14181d', 0.08, 0.16, 0.42, 0.06);
    for (let line = 0; line < 8; line++)
      rect('#b8c0c8', 0.08, 0.28 + line * 0.06, 0.3 + ((line * 7) % 5) * 0.03, 0.022);
    [0.3, 0.5, 0.42, 0.7, 0.6, 0.85].forEach((value, index) => {
      rect(index === 5 ? '#1f5fd0' : '#8fb2ee', 0.58 + index * 0.06, 0.85 - value * 0.55, 0.042, value * 0.55);
    });
    return;
  }
  rect(pick(walls, seed), 0, 0, 1, 1);
  rect('rgba(255,255,255,0.08)', 0.08, 0.1, 0.22, 0.4);
  rect('rgba(0,0,0,0.12)', 0.74, 0.06, 0.18, 0.5);
  disc(pick(shirts, seed * 5 + 1), 0.5, 1.06, 0.46, 0.42);
  rect(pick(skins, seed), 0.455, 0.56, 0.09, 0.16);
  disc(pick(['#2b211c', '#5d3a1f', '#1b1b1f', '#8a6a3f', '#c9c3ba'], seed), 0.5, 0.36, 0.23, 0.26);
  disc(pick(skins, seed), 0.5, 0.42, 0.175, 0.215);
  disc('#22262a', 0.465, 0.4, 0.018, 0.022);
  disc('#22262a', 0.535, 0.4, 0.018, 0.022);
}

const pictures = new Map<string, MediaStream>();

export function pictureOf(seed: number, isScreen: boolean): MediaStream {
  const key = `${seed} ${isScreen}`;
  const known = pictures.get(key);
  if (known) return known;
  const canvas = Object.assign(document.createElement('canvas'), { width: 640, height: 360 });
  draw(canvas, seed, isScreen);
  const stream = canvas.captureStream(1);
  // A picture that does not change is sent once: it is drawn again for those who come later.
  setInterval(() => draw(canvas, seed, isScreen), 1000);
  pictures.set(key, stream);
  return stream;
}

export interface Look {
  seed: number;
  name?: string;
  isLocal?: boolean;
  hasCamera?: boolean;
  hasScreen?: boolean;
  isMuted?: boolean;
  isMutedByServer?: boolean;
  isSpeaking?: boolean;
  isPaused?: boolean;
  quality?: ParticipantState['quality'];
  permissions?: Partial<Permissions>;
}

function track(
  source: TrackState['source'],
  stream: MediaStream | null,
  isMuted: boolean,
  isPaused = false,
  isMutedByServer = false,
): TrackState {
  const shown = {
    attach(element: HTMLMediaElement) {
      element.srcObject = stream;
      void element.play().catch(() => {});
      return element;
    },
    detach(element: HTMLMediaElement) {
      element.srcObject = null;
    },
  };
  return {
    trackId: `${source}-${stream?.id ?? 'none'}`,
    kind: source === 'MICROPHONE' ? 'audio' : 'video',
    source,
    name: null,
    metadata: null,
    isMuted: isMuted || isMutedByServer,
    isMutedByServer,
    streamState: isPaused ? 'paused' : 'active',
    pauseReason: isPaused ? 'bandwidth' : null,
    isSubscribed: true,
    // Of a track the kit uses these two alone.
    track: shown as unknown as TrackState['track'],
  };
}

export function person(look: Look): ParticipantState {
  const { seed, isLocal = false, hasCamera = true, hasScreen = false, isMuted = false, isSpeaking = false } = look;
  const name = look.name ?? names[seed % names.length] ?? '';
  return {
    identity: `${name.toLowerCase().replaceAll(' ', '-')}-${seed}`,
    sessionId: `session-${seed}`,
    isLocal,
    name,
    metadata: null,
    isSpeaking,
    audioLevel: isSpeaking ? 0.3 : 0,
    quality: look.quality === undefined ? 'good' : look.quality,
    tracks: [
      track('MICROPHONE', null, isMuted, false, look.isMutedByServer),
      ...(hasCamera ? [track('CAMERA', pictureOf(seed, false), false, look.isPaused)] : []),
      ...(hasScreen ? [track('SCREEN_SHARE', pictureOf(seed, true), false)] : []),
    ],
    permissions: { ...everything, ...look.permissions },
    // The kit acts through the room.
    participant: {} as ParticipantState['participant'],
  };
}

/** Cameras off, microphones off, one who speaks: as it is in a real meeting. */
export const crowd = (count: number): ParticipantState[] =>
  Array.from({ length: count }, (_, seed) =>
    person({
      seed,
      isLocal: seed === 0,
      hasCamera: seed % 4 !== 3,
      isMuted: seed % 3 === 2,
      isSpeaking: seed === 1,
      quality: seed === 4 ? 'fair' : 'good',
    }),
  );

const everything: Permissions = {
  join: true,
  subscribe: true,
  publish: true,
  publishAudio: true,
  publishVideo: true,
  publishData: true,
  updateMetadata: false,
};

/** A device and what the browser does to it. */
function processed(first: object) {
  let settings = first;
  return {
    mediaStreamTrack: { getSettings: () => settings },
    async set(_isOn: boolean, change: object = {}): Promise<null> {
      settings = { ...settings, ...change };
      return null;
    },
  };
}

export function room(people: readonly ParticipantState[], state: Partial<RoomState> = {}): Room {
  const [self = null, ...participants] = people;
  const snapshot: RoomState = {
    connection: 'connected',
    error: null,
    reconnectingSince: null,
    isAudioBlocked: false,
    isRecording: false,
    quality: 'good',
    participants,
    self,
    activeSpeakers: people.filter(({ isSpeaking }) => isSpeaking).map(({ identity }) => identity),
    ...state,
  };
  const resolved = async (): Promise<null> => null;
  const microphone = processed({ noiseSuppression: true, echoCancellation: true, autoGainControl: false });
  const fake = {
    state: { getSnapshot: () => snapshot, subscribe: () => () => {} },
    self: {
      identity: self?.identity ?? '',
      tracks: new Set(),
      microphone,
      camera: {
        mediaStreamTrack: { getSettings: () => ({}), getCapabilities: () => ({ backgroundBlur: [false, true] }) },
      },
      setMicrophone: microphone.set,
      setCamera: resolved,
      setScreenShare: resolved,
      sendData: resolved,
    },
    on: () => () => {},
    connect: resolved,
    leave: resolved,
    startAudio: resolved,
  };
  // Only what the kit uses of a room.
  return fake as unknown as Room;
}

/** One that is joined and left as a real one is, by oneself alone. A script reaches it by `window.sampleRoom`. */
export function joinableRoom(own: Devices | null): Room {
  let self = person({ seed: 0, isLocal: true });
  const fake = room([self]);
  const state = sampleStore<RoomState>({ ...fake.state.getSnapshot(), connection: 'idle', self: null });
  const listeners = new Set<{ event: string; listener: (...values: unknown[]) => void }>();
  const emit = (event: string, ...values: unknown[]): void => {
    for (const entry of [...listeners]) if (entry.event === event) entry.listener(...values);
  };
  const set = async (connection: RoomState['connection']): Promise<void> => {
    const { connection: before } = state.getSnapshot();
    state.set({ ...state.getSnapshot(), connection, self: connection === 'connected' ? self : null });
    emit('connectionStateChanged', connection, before);
  };
  const published: string[] = [];
  const publish = (source: string) => async (): Promise<null> => {
    published.push(source);
    return null;
  };
  const sample = {
    ...fake,
    state,
    devices: own,
    published,
    self: { ...fake.self, setMicrophone: publish('microphone'), setCamera: publish('camera') },
    on(event: string, listener: (...values: unknown[]) => void) {
      const entry = { event, listener };
      listeners.add(entry);
      return () => listeners.delete(entry);
    },
    async connect() {
      if (state.getSnapshot().connection === 'connecting' || state.getSnapshot().connection === 'connected') return;
      state.set({ ...state.getSnapshot(), error: null });
      await set('connecting');
      setTimeout(() => void set('connected'), 50);
    },
    leave: () => (state.getSnapshot().connection === 'disconnected' ? Promise.resolve() : set('disconnected')),
    /** What the service may do at any time. */
    remove() {
      state.set({ ...state.getSnapshot(), error: new ConnectionError('removed') });
      return set('disconnected');
    },
    record(isRecording: boolean) {
      state.set({ ...state.getSnapshot(), isRecording });
      emit('recordingChanged', isRecording);
    },
    allow(permissions: Partial<Permissions>) {
      self = { ...self, permissions: { ...everything, ...permissions } };
      state.set({ ...state.getSnapshot(), self });
    },
  };
  Object.assign(window, { sampleRoom: sample });
  return sample as unknown as Room;
}

const device = (kind: Device['kind'], label: string): Device => ({ kind, label, deviceId: label, groupId: 'fake' });

export function devices(isEmpty = false): Devices {
  const state: DevicesState = {
    microphones: isEmpty
      ? []
      : ['Built-in microphone', 'Headset (USB)', 'Studio microphone'].map((one) => device('microphone', one)),
    cameras: isEmpty ? [] : ['FaceTime HD camera', 'Logitech Brio'].map((one) => device('camera', one)),
    speakers: isEmpty ? [] : ['Built-in speakers', 'Headset (USB)'].map((one) => device('speaker', one)),
    hasLabels: !isEmpty,
    chosen: { microphone: null, camera: null, speaker: null },
  };
  return {
    state: { getSnapshot: () => state, subscribe: () => () => {} },
    request: async () => {},
    choose: async (_kind, deviceId) => {
      if (deviceId === 'Studio microphone') throw new Error('It cannot be opened.');
    },
    onChoose: () => () => {},
    refresh: async () => {},
    close: () => {},
  };
}

/** The picture of somebody, for a preview. */
export function camera(seed: number): Promise<MediaStreamTrack> {
  const [picture] = pictureOf(seed, false).getVideoTracks();
  if (!picture) throw new Error('a canvas has a picture');
  return Promise.resolve(picture.clone());
}

/** A hum that a level can be seen of. */
export async function tone(): Promise<MediaStreamTrack> {
  const context = new AudioContext();
  const oscillator = context.createOscillator();
  const volume = context.createGain();
  const output = context.createMediaStreamDestination();
  volume.gain.value = 0.02;
  oscillator.connect(volume).connect(output);
  oscillator.start();
  const [track] = output.stream.getAudioTracks();
  if (!track) throw new Error('a destination has a track');
  return track;
}
