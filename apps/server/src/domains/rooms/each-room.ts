/** Rooms that are changed side by side: a killed process, or a key, may have had thousands. */
const roomsAtOnce = 8;

/** A room that fails does not keep the others waiting; the work fails with it when all have had their turn. */
export async function forEachRoom<T>(rooms: readonly T[], work: (room: T) => Promise<unknown>): Promise<void> {
  const left = [...rooms];
  const errors: unknown[] = [];
  const next = async (): Promise<void> => {
    for (let room = left.shift(); room !== undefined; room = left.shift()) {
      await work(room).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: roomsAtOnce }, next));
  if (errors.length > 0) throw new AggregateError(errors, `${errors.length} of ${rooms.length} rooms were not changed`);
}
