import type { OtherLegs } from '../src/media/other-legs.ts';

/** For a room that is in one process only. */
export const alone: OtherLegs = {
  owners: () => [],
  publishers: () => [],
  joined() {},
  left() {},
  published() {},
  changed() {},
  unpublished() {},
  backupChanged() {},
  demandChanged: () => false,
  sendData: () => ({ sent: 0, refused: 0 }),
  announceDataFlow() {},
  leadingChoice: () => undefined,
  announceChoice() {},
  tick() {},
  report() {},
  close() {},
};
