/** Tells the person from the background. The application brings it along: a model is larger than this whole SDK. */
export interface Segmenter {
  /**
   * A picture of any size whose opacity says where the person is. May return the one before for frames that come too
   * fast. `frame` is closed afterwards.
   */
  segment(frame: CanvasImageSource, timestampMs: number): CanvasImageSource | Promise<CanvasImageSource>;
}
