import type { Exhibit } from './gallery.ts';

export const chatExhibits: readonly Exhibit[] = [];
