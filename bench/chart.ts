import { type Bars, figure, floorText, isMet, type Row } from './ratio.ts';

const width = 900;
const margin = 20;
const labelWidth = 180;
const valueWidth = 190;
const headHeight = 28;
const barHeight = 20;
const gap = 22;

/** Its own ground under it, so that it can be read whatever page it stands on. */
const style = `
  .ground { fill: #ffffff; stroke: #d5dae1 } .text { fill: #1f2733 } .quiet { fill: #5b6675 } .ours { fill: #0f766e } .theirs { fill: #a8b3c2 }
  .floor { stroke: #b45309; stroke-width: 2 } .missed { fill: #b91c1c }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #141a22; stroke: #313b48 } .text { fill: #e6ebf2 } .quiet { fill: #9aa7b8 } .ours { fill: #2dd4bf } .theirs { fill: #5d6b7d }
    .floor { stroke: #f59e0b } .missed { fill: #f87171 }
  }
  text { font: 13px system-ui, sans-serif } .question { font-weight: 600 }`;

/** The bars of each row, ours first; a line in our bar shows where the floor is. */
export function drawChart(title: string, rows: readonly Row[]): string {
  let y = margin;
  const groups = rows.map((row) => {
    const group = drawRow(row, y);
    y += headHeight + Object.keys(barsOf(row).sides).length * barHeight + gap;
    return group;
  });
  const height = y - gap + margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${safe(title)}">
<style>${style}
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${groups.join('\n')}
</svg>
`;
}

function drawRow(row: Row, top: number): string {
  const { unit, sides } = barsOf(row);
  const values = Object.values(sides);
  const floorAt = floorValue(row) * (values[1] ?? 1);
  const most = Math.max(...values, row.floor ? floorAt : 0) || 1;
  const x = margin + labelWidth;
  const scale = (value: number): number => (value / most) * (width - x - margin - valueWidth);
  const bars = Object.entries(sides).map(([name, value], index) => {
    const y = top + headHeight + index * barHeight;
    return `<text class="quiet" x="${x - 10}" y="${y + 12}" text-anchor="end">${safe(name)}</text>
<rect class="${index === 0 ? 'ours' : 'theirs'}" x="${x}" y="${y}" width="${round(Math.max(scale(value), 2))}" height="15" rx="2"/>
<text class="text" x="${round(x + Math.max(scale(value), index === 0 && row.floor ? scale(floorAt) : 0) + 8)}" y="${y + 12}">${figure(value)} ${safe(unit)}</text>`;
  });
  const line = x + round(scale(floorAt));
  const floor =
    row.floor &&
    `<line class="floor" x1="${line}" y1="${top + headHeight - 3}" x2="${line}" y2="${top + headHeight + 18}"/>`;
  const notes = [values.length > 1 ? figure(row.ratio) : '', row.floor ? `floor ${floorText(row.floor)}` : 'no floor'];
  const verdict = notes.filter(Boolean).join(', ');
  return `<text class="text question" x="${margin}" y="${top + 13}">${safe(row.question)}</text>
<text class="${isMet(row) ? 'quiet' : 'missed'}" x="${width - margin}" y="${top + 13}" text-anchor="end">${verdict}</text>
${bars.join('\n')}
${floor ?? ''}`;
}

/** A row without values of its sides shows the figure that the floor bounds. */
const barsOf = ({ bars, ratio }: Row): Bars => bars ?? { unit: '', sides: { measured: ratio } };

const floorValue = ({ floor }: Row): number => (floor === null ? 0 : 'atLeast' in floor ? floor.atLeast : floor.atMost);

const round = (value: number): number => Math.round(value * 10) / 10;

const safe = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
