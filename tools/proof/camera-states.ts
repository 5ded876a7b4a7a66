/**
 * What is said of cameras that are not seen, in counts and without a clock: `node tools/proof/camera-states.ts [PEOPLE]`.
 * So many join one room, evenly over a time, each with a camera, and see nine of the others; everybody answers at once.
 */
import { stageCrowd } from '../../apps/sfu/testkit/crowd-stage.ts';

const people = Number(process.argv[2] ?? 200);
/** Entries of a signaling frame. */
const ENTRIES_MAX = 100;

async function count(seconds: number, takesStates: boolean) {
  const crowd = stageCrowd({ maxVisible: 9, takesStates });
  await crowd.enterEvenly(people, seconds * 1000);
  const all = Array.from({ length: people }, (_, index) => {
    const { singles, gathered, last } = crowd.statesTo(`p-${index}`);
    const pieces = gathered.reduce((sum, { states }) => sum + Math.ceil(states.length / ENTRIES_MAX), 0);
    return { events: singles + gathered.length, frames: singles + pieces, known: last.size };
  });
  const sum = (of: 'events' | 'frames' | 'known'): number => all.reduce((total, one) => total + one[of], 0);
  return {
    'all join within': `${seconds} s`,
    together: takesStates,
    'events, all together': sum('events'),
    'frames, all together': sum('frames'),
    'frames to who was first': all[0]?.frames,
    'frames to who was last': all.at(-1)?.frames,
    'tracks with a state': sum('known'),
  };
}

const rows = [];
for (const seconds of [5, 60]) for (const takesStates of [false, true]) rows.push(await count(seconds, takesStates));
console.table(rows);
