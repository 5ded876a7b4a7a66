export interface TestTracksOptions {
  /** Written on the card. */
  label?: string;
  width?: number;
  height?: number;
  frameRate?: number;
}

export interface TestTracks {
  video: MediaStreamTrack;
  audio: MediaStreamTrack;
  stop(): void;
}

/** A moving test card and a quiet tone, for machines without a camera and for tests. */
export function createTestTracks(options: TestTracksOptions = {}): TestTracks {
  const { label = 'Parley', width = 1280, height = 720, frameRate = 30 } = options;
  const canvas = Object.assign(document.createElement('canvas'), { width, height });
  const ended = new AbortController();
  // Before the capture: Firefox takes no canvas without a context.
  const context = canvas.getContext('2d');
  // Loaded when asked for; without it the picture is black.
  if (context)
    import('./test-card.ts').then((card) => card.startCard(context, label, frameRate, ended)).catch(() => {});
  const tone = startTone();
  const video = trackOf(canvas.captureStream(frameRate));
  return {
    video,
    audio: tone.track,
    stop() {
      ended.abort();
      video.stop();
      tone.stop();
    },
  };
}

function startTone(): { track: MediaStreamTrack; stop(): void } {
  const context = new AudioContext();
  // Of 440 Hz, unless told otherwise.
  const oscillator = new OscillatorNode(context);
  const output = context.createMediaStreamDestination();
  oscillator.connect(new GainNode(context, { gain: 0.1 })).connect(output);
  oscillator.start();
  return { track: trackOf(output.stream), stop: () => void context.close() };
}

function trackOf(stream: MediaStream): MediaStreamTrack {
  const [track] = stream.getTracks();
  if (!track) throw new Error('No media.');
  return track;
}
