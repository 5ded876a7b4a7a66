import type { ReactNode } from 'react';

/** A component in one of its states. `#name` in the address shows it alone, as wide and high as the window. */
export interface Exhibit {
  name: string;
  element: () => ReactNode;
}
