/** What the arrow to the right adds: in a text from right to left it goes back. */
export const forwardIn = (element: Element): 1 | -1 => (getComputedStyle(element).direction === 'rtl' ? -1 : 1);
