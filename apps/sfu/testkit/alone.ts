import type { OtherLegs } from '../src/media/other-legs.ts';

/** For a room that is in one process only. */
export const alone: OtherLegs = {
  owners: () => [],
  joined() {},
  left() {},
  published() {},
  changed() {},
  unpublished() {},
  backupChanged() {},
  demandChanged: () => false,
  sendData: () => 0,
  tick() {},
  report() {},
  close() {},
};
