import { t } from '../i18n/t.ts';
/** How something went over the last hour, small: what it says in words is its name. */
export function Sparkline({ label, values }: { label: string; values: readonly number[] }) {
  const top = Math.max(1, ...values);
  const [width, height] = [120, 28];
  const step = width / Math.max(1, values.length);
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={t('kit.mostAMinute', { label, top: top === 1 && !values.includes(1) ? 0 : top })}
    >
      {values.map((value, index) => {
        const size = value === 0 ? 1 : Math.max(2, (value / top) * height);
        const bar = { x: index * step, y: height - size, width: step * 0.76, height: size };
        // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
        return <rect key={index} {...bar} data-idle={value === 0} />;
      })}
    </svg>
  );
}
