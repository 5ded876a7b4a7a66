import { createContext, useContext } from 'react';

/** What is inside of a panel of a call knows of it. */
export interface PanelScope {
  /** Closed panels stay in the page, hidden. */
  isOpen: boolean;
  /** Counts one more on the button, until the panel is opened. */
  notify: () => void;
}

export const PanelContext = createContext<PanelScope | null>(null);

/** The panel of a call that this component is in; null outside of one. */
export const usePanel = (): PanelScope | null => useContext(PanelContext);
