import { encode } from 'uqr';

/** Light modules around the code, without which scanners do not find it. */
const border = 4;

/** A text for the camera of another device: dark on light in both themes. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, data } = encode(text, { border });
  const modules = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg className="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges">
      <path d={modules.join('')} />
    </svg>
  );
}
