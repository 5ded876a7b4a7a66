const COLOURS = ['#c0c0c0', '#c0c000', '#00c0c0', '#00c000', '#c000c0', '#c00000', '#0000c0'];

/** Bars, a moving dot and a count: every frame differs, and a frozen picture shows. */
export function startCard(
  context: CanvasRenderingContext2D,
  label: string,
  frameRate: number,
  { signal }: AbortController,
): void {
  const { width, height } = context.canvas;
  let frame = 0;
  const draw = (): void => {
    COLOURS.forEach((colour, index) => {
      context.fillStyle = colour;
      context.fillRect((index * width) / COLOURS.length, 0, width / COLOURS.length + 1, height);
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
  if (signal.aborted) return;
  draw();
  const timer = setInterval(draw, 1000 / frameRate);
  signal.addEventListener('abort', () => clearInterval(timer));
}
