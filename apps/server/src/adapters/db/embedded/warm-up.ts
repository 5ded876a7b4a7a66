import type { WireValue } from '../shared/values.ts';
import type { Answer } from './wire-reader.ts';

const rounds = 25;
// The process itself is still starting then, and needs the processor more.
const firstPauseMs = 1_500;
const pauseMs = 20;
const rowsInRound = 10;

/**
 * WebAssembly starts unoptimised: the first thousand statements take several times as long as later ones. So the idle
 * moments after the start are spent on work like ours, in short rounds that leave nothing behind.
 */
export async function warmUp(run: (text: string, values: WireValue[]) => Answer, isIdle: () => boolean): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, round === 0 ? firstPauseMs : pauseMs));
    if (isIdle()) oneRound(run);
  }
}

function oneRound(run: (text: string, values: WireValue[]) => Answer): void {
  run('begin', []);
  run('create temp table warm_up (id text primary key, owner text, body jsonb, at timestamptz) on commit drop', []);
  for (let i = 0; i < rowsInRound; i += 1) {
    run(
      `with before as (select count(*) as n from warm_up where owner = $2)
       insert into warm_up select $1, $2, jsonb_build_object('n', before.n), now() from before returning id, body, at`,
      [`row${i}`, `owner${i % 3}`],
    );
    run(`update warm_up set body = body || '{"seen": true}' where id = $1`, [`row${i}`]);
    run('select * from warm_up where owner = $1 order by at desc limit 10', [`owner${i % 3}`]);
  }
  run('rollback', []);
}
