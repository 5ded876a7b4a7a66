import type { Exhibit } from './gallery.ts';

export const callExhibits: readonly Exhibit[] = [];
