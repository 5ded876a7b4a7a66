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
  const timer = startCard(canvas, label, frameRate);
  const tone = startTone();
  const [video] = canvas.captureStream(frameRate).getVideoTracks();
  if (!video) throw new Error('This browser cannot capture a canvas.');
  return {
    video,
    audio: tone.track,
    stop() {
      clearInterval(timer);
      video.stop();
      tone.stop();
    },
  };
}

/** Bars, a moving dot and the time: every frame differs, and a frozen picture shows. */
function startCard(canvas: HTMLCanvasElement, label: string, frameRate: number): ReturnType<typeof setInterval> {
  const context = canvas.getContext('2d');
  const { width, height } = canvas;
  const colours = ['#c0c0c0', '#c0c000', '#00c0c0', '#00c000', '#c000c0', '#c00000', '#0000c0'];
  let frame = 0;
  const draw = (): void => {
    if (!context) return;
    colours.forEach((colour, index) => {
      context.fillStyle = colour;
      context.fillRect((index * width) / colours.length, 0, width / colours.length + 1, height);
    });
    const angle = (frame++ / frameRate) * Math.PI;
    context.fillStyle = '#fff';
    context.beginPath();
    context.arc(width / 2 + (Math.cos(angle) * width) / 3, height / 2, height / 12, 0, Math.PI * 2);
    context.fill();
    context.fillStyle = '#000';
    context.font = `${Math.round(height / 10)}px sans-serif`;
    context.fillText(`${label} ${frame}`, width / 20, height - height / 10);
  };
  draw();
  return setInterval(draw, 1000 / frameRate);
}

function startTone(): { track: MediaStreamTrack; stop(): void } {
  const context = new AudioContext();
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  const output = context.createMediaStreamDestination();
  oscillator.frequency.value = 440;
  gain.gain.value = 0.1;
  oscillator.connect(gain).connect(output);
  oscillator.start();
  const [track] = output.stream.getAudioTracks();
  if (!track) throw new Error('This browser cannot make a tone.');
  return { track, stop: () => void context.close() };
}
