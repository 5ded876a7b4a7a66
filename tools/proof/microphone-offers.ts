/**
 * What open microphones cost in offers, in counts and without a clock: `node tools/proof/microphone-offers.ts [PEOPLE]`.
 * So many join one room, evenly over a time, each with a microphone that stays open; everybody answers at once.
 */
import { stageCrowd } from '../../apps/sfu/testkit/crowd-stage.ts';

const people = Number(process.argv[2] ?? 200);

async function count(seconds: number) {
  const crowd = stageCrowd();
  await crowd.enterEvenly(people, seconds * 1000);
  const all = Array.from({ length: people }, (_, index) => crowd.offersTo(`p-${index}`));
  const first = all[0];
  const sum = (of: 'count' | 'bytes'): number => all.reduce((total, one) => total + one[of], 0);
  return {
    'all join within': `${seconds} s`,
    'offers, all together': sum('count'),
    'to who was first': first?.count,
    'a second, to who was first': Number(((first?.count ?? 0) / seconds).toFixed(1)),
    'kB to who was first': Math.round((first?.bytes ?? 0) / 1000),
    'MB, all together': Number((sum('bytes') / 1e6).toFixed(1)),
    'bytes a track': Math.round(sum('bytes') / (people * (people - 1))),
  };
}

const rows = [];
for (const seconds of [5, 20, 60, 300]) rows.push(await count(seconds));
console.table(rows);
