/** A step between a device and what is sent of it: blur of the background, a voice filter. */
export interface TrackProcessor {
  readonly name: string;
  /** What to send instead of the source. Called again after `stop()` when the device changes or is turned on again. */
  start(source: MediaStreamTrack): Promise<MediaStreamTrack>;
  /** Ends what `start()` returned; the source is not the processor's. */
  stop(): void;
}

export interface ProcessorOptions {
  /** From the first frame on: nothing is sent that did not pass through it. Null takes it away. */
  processor?: TrackProcessor | null;
}
