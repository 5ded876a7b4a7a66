/** Not everywhere allowed: then nothing happens. */
export async function toggleFullScreen(element: HTMLElement | null): Promise<void> {
  await (document.fullscreenElement ? document.exitFullscreen() : element?.requestFullscreen?.())?.catch(() => {});
}
