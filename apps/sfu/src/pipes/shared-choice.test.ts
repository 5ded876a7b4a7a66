import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stageProcesses } from '../../testkit/processes-stage.ts';

type Levels = Readonly<Record<number, number>> | ((microphone: number) => number);
const LOOK_MS = 100;

/** A room of 51 and more in two processes, four microphones in each; numbers of the first are even. */
async function openRoom({ isFirstDeaf = false } = {}) {
  const stage = stageProcesses();
  const both = [stage.open(), stage.open()] as const;
  await stage.speak({}, LOOK_MS);
  for (let index = 0; index < 22; index += 1)
    for (const [side, { stage: room }] of both.entries())
      room.join(`listener-${side}-${index}`, { isAutoSubscribed: side === 1 || !isFirstDeaf });
  for (let index = 0; index < 8; index += 1) {
    const side = both[index % 2 === 0 ? 0 : 1];
    stage.speaker(side, side === both[1] || !isFirstDeaf);
  }
  await stage.speak({}, 1000);

  /** For how long at a stretch the processes forwarded different ones, and whose microphones all of them did. */
  async function watch(levels: Levels, ms: number, of = (processes: number[][]) => processes) {
    const heard = new Set<number>();
    let longestMs = 0;
    let apartMs = 0;
    stage.takeForwarded();
    for (let left = ms; left > 0; left -= LOOK_MS) {
      await stage.speak(levels, LOOK_MS);
      const [first = [], ...others] = of(stage.takeForwarded());
      for (const number of first) heard.add(number);
      apartMs = others.every((numbers) => String(numbers) === String(first)) ? 0 : apartMs + LOOK_MS;
      longestMs = Math.max(longestMs, apartMs);
    }
    return { longestMs, heard: [...heard].sort((a, b) => a - b) };
  }
  return { stage, both, watch };
}

/** Many who talk at once, each packet at another level. */
function newCrosstalk(speakers: readonly number[]): Levels {
  let seed = 1;
  return (microphone) => {
    seed = (seed * 16_807) % 2_147_483_647;
    return speakers.includes(microphone) ? 15 + (seed % 25) : 127;
  };
}

const alike = { 0: 20, 1: 20, 2: 20, 3: 20, 4: 20 };

test('[PIPE-48] two processes of a large room forward the same microphones, as levels change', async () => {
  const { watch } = await openRoom();
  const clear = await watch({ 0: 20, 1: 22, 3: 24, 4: 60 }, 1500);
  assert.deepEqual(clear.heard, [0, 1, 3]);
  const louder = await watch({ 0: 20, 1: 22, 3: 40, 5: 15 }, 1500);
  assert.deepEqual(louder.heard, [0, 1, 3, 5]);
  const same = await watch(alike, 15_000);
  assert.deepEqual(same.heard, [0, 1, 2, 3, 4, 5], 'who waits has a turn, and who was louder before is held');
  const crosstalk = await watch(newCrosstalk([0, 1, 2, 3, 4, 5]), 20_000);
  const longest = [clear, louder, same, crosstalk].map(({ longestMs }) => longestMs);
  assert.ok(
    longest.every((ms) => ms <= 500),
    `apart for ${longest} ms`,
  );
});

test('[PIPE-48] a process that has the room later forwards the same within a second', async () => {
  const { stage, watch } = await openRoom();
  await stage.speak(alike, 5300);
  const third = stage.open();
  for (const name of ['late-1', 'late-2']) third.stage.join(name);
  await stage.speak(alike, 300);
  // Until a microphone has said a level it is forwarded.
  const joining = await watch(alike, 3000);
  const later = await watch(alike, 10_000);
  assert.ok(joining.longestMs <= 1000 && later.longestMs <= 500, `${joining.longestMs} and ${later.longestMs} ms`);
  // Its microphone counts like any other.
  const late = stage.speaker(third);
  const louder = await watch({ ...alike, [late]: 10 }, 3000);
  assert.ok(louder.heard.includes(late) && louder.longestMs <= 500, `apart for ${louder.longestMs} ms`);
});

for (const [how, isClosed] of [
  ['has the room no more', true],
  ['is not heard any more', false],
] as const)
  test(`[PIPE-48] when the process that leads ${how} the others go on together`, async () => {
    const { stage, both, watch } = await openRoom();
    const third = stage.open();
    for (let index = 0; index < 30; index += 1) third.stage.join(`late-${index}`);
    const speakers = [1, 3, 5, stage.speaker(third), stage.speaker(third)];
    const crosstalk = newCrosstalk(speakers);
    await stage.speak(crosstalk, 3000);
    if (isClosed) stage.close(both[0]);
    else both[0].path.isUp = false;
    const of = (processes: number[][]) => processes.slice(-2);
    await watch(crosstalk, 2000, of);
    const { longestMs, heard } = await watch(crosstalk, 12_000, of);
    assert.deepEqual(heard, speakers);
    assert.ok(longestMs <= 500, `apart for ${longestMs} ms`);
  });

test('[PIPE-48] a process in which nobody takes some of the microphones does not lead: it does not hear them', async () => {
  const { stage, watch } = await openRoom({ isFirstDeaf: true });
  const third = stage.open();
  third.stage.join('late');
  await stage.speak(alike, 1000);
  const { longestMs, heard } = await watch(alike, 12_000, (processes) => processes.slice(1));
  assert.deepEqual(heard, [0, 1, 2, 3, 4]);
  assert.ok(longestMs <= 500, `apart for ${longestMs} ms`);
});
