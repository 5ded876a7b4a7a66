import type * as native from 'node-datachannel';

/**
 * The library strikes a part off its list where its closing is listened to. Else it keeps the address of what is
 * collected, and the next `cleanup` in this process goes there. The listener holds the part until it was called.
 */
export function forgottenOnceClosed<Part extends native.Track | native.DataChannel>(part: Part): Part {
  part.onClosed(() => void part);
  return part;
}
