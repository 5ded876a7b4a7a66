/** In place of a store that is not there (yet). */
export const constantStore = <T>(value: T) => ({ getSnapshot: (): T => value, subscribe: () => () => {} });
