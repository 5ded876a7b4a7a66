import { createStore, type Store } from '../store.ts';

export interface LevelMeter {
  /** 0 is silence, 1 as loud as it goes; as the ear hears it, in steps of a hundredth. */
  readonly level: Store<number>;
  stop(): void;
}

const LOOK_EVERY_MS = 50;
/** What is quieter is the noise of a room. */
const SILENCE_DB = -60;

/** How loud a microphone is, before or during a call. The track stays yours. */
export function createLevelMeter(track: MediaStreamTrack): LevelMeter {
  const context = new AudioContext();
  const analyser = context.createAnalyser();
  context.createMediaStreamSource(new MediaStream([track])).connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  const level = createStore(0);
  const timer = setInterval(() => {
    // Suspended until the first gesture in some browsers.
    if (context.state === 'suspended') void context.resume();
    analyser.getFloatTimeDomainData(samples);
    level.set(levelOf(samples));
  }, LOOK_EVERY_MS);
  return {
    level,
    stop() {
      clearInterval(timer);
      if (context.state !== 'closed') void context.close();
    },
  };
}

export function levelOf(samples: Float32Array): number {
  const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const level = 1 - (10 * Math.log10(power)) / SILENCE_DB;
  return Math.round(Math.min(1, Math.max(0, level)) * 100) / 100;
}
