/** Where tiles go: pure geometry, in pixels from the start edge and the top of the stage. */
export interface Size {
  width: number;
  height: number;
}

export interface Box extends Size {
  start: number;
  top: number;
}

export interface Arrangement {
  /** By the place of the tile; those that are on no page now are missing. */
  boxes: ReadonlyMap<number, Box>;
  page: number;
  pages: number;
}

/** As many as can be told apart, and as many as a room of 50 has besides oneself. */
export const TILES_MAX = 49;
const GAP = 8;
/** As wide as a camera's picture at most; narrower only as far as it cuts off little, on a phone up to a portrait. */
const ASPECT_MAX = 16 / 9;
const aspectMin = ({ width, height }: Size): number => (width > height ? 1 : 3 / 4);
/** Below this a face is not to be recognised: the rest goes to the next page. */
const TILE_MIN: Size = { width: 104, height: 88 };

/** Tiles of equal size in rows of which the last is centred; the number of columns that shows the most of each. */
export function gridBoxes(count: number, stage: Size): Box[] {
  let best: { columns: number; tile: Size } | null = null;
  for (let columns = 1; columns <= count; columns++) {
    const tile = tileIn(stage, columns, Math.ceil(count / columns));
    if (best === null || area(tile) > area(best.tile) + 0.01) best = { columns, tile };
  }
  return best === null ? [] : placed(count, stage, best.columns, best.tile);
}

const area = ({ width, height }: Size): number => width * height;

function tileIn(stage: Size, columns: number, rows: number): Size {
  const width = Math.max(0, (stage.width - GAP * (columns - 1)) / columns);
  const height = Math.max(0, (stage.height - GAP * (rows - 1)) / rows);
  if (width > height * ASPECT_MAX) return { width: height * ASPECT_MAX, height };
  const least = aspectMin(stage);
  return width < height * least ? { width, height: width / least } : { width, height };
}

function placed(count: number, stage: Size, columns: number, tile: Size): Box[] {
  const rows = Math.ceil(count / columns);
  const top = middle(stage.height, rows, tile.height);
  return Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / columns);
    const inRow = row < rows - 1 ? columns : count - columns * (rows - 1);
    const start = middle(stage.width, inRow, tile.width);
    return { ...tile, start: start + (index % columns) * (tile.width + GAP), top: top + row * (tile.height + GAP) };
  });
}

/** Where a run of tiles begins so that it is centred. */
const middle = (length: number, tiles: number, tile: number): number =>
  Math.max(0, (length - tiles * tile - (tiles - 1) * GAP) / 2);

/** How many tiles the stage holds at a size at which they are of use. */
export function gridCapacity(stage: Size): number {
  const fitting = (length: number, least: number): number => Math.max(1, Math.floor((length + GAP) / (least + GAP)));
  return Math.min(TILES_MAX, fitting(stage.width, TILE_MIN.width) * fitting(stage.height, TILE_MIN.height));
}

/** All alike, page by page where they do not fit. */
export function arrangeGrid(count: number, stage: Size, wantedPage = 0): Arrangement {
  const perPage = gridCapacity(stage);
  const pages = Math.max(1, Math.ceil(count / perPage));
  const page = Math.min(Math.max(0, wantedPage), pages - 1);
  const first = page * perPage;
  const boxes = gridBoxes(Math.min(perPage, count - first), stage);
  return { boxes: new Map(boxes.map((box, index) => [first + index, box])), page, pages };
}

/** One large, the others in a strip at its side, or below it on a stage that is taller than wide. */
export function arrangeFocus(count: number, focus: number, stage: Size, wantedPage = 0): Arrangement {
  const others = Array.from({ length: count }, (_, index) => index).filter((index) => index !== focus);
  const whole: Box = { ...stage, start: 0, top: 0 };
  const strip = stripIn(stage);
  if (others.length === 0 || strip.capacity === 0) return { boxes: new Map([[focus, whole]]), page: 0, pages: 1 };
  const pages = Math.ceil(others.length / strip.capacity);
  const page = Math.min(Math.max(0, wantedPage), pages - 1);
  const shown = others.slice(page * strip.capacity, (page + 1) * strip.capacity);
  const begin = middle(strip.length, shown.length, strip.isBeside ? strip.tile.height : strip.tile.width);
  const boxes = new Map([[focus, strip.main]]);
  shown.forEach((place, index) => {
    boxes.set(place, boxInStrip(strip, begin, index));
  });
  return { boxes, page, pages };
}

interface Strip {
  isBeside: boolean;
  tile: Size;
  main: Box;
  /** Along which the small tiles stand. */
  length: number;
  capacity: number;
}

function boxInStrip({ isBeside, tile, main }: Strip, begin: number, index: number): Box {
  const along = begin + index * ((isBeside ? tile.height : tile.width) + GAP);
  return isBeside
    ? { ...tile, start: main.width + GAP, top: along }
    : { ...tile, start: along, top: main.height + GAP };
}

function stripIn(stage: Size): Strip {
  const isBeside = stage.width > stage.height * 1.1;
  const width = isBeside
    ? Math.min(280, Math.max(96, stage.width * 0.18))
    : Math.min(200, Math.max(88, stage.width * 0.28));
  const tile = { width, height: width / (isBeside ? ASPECT_MAX : 4 / 3) };
  const length = isBeside ? stage.height : stage.width;
  const across = isBeside ? stage.width - tile.width - GAP : stage.height - tile.height - GAP;
  const capacity = across < 80 ? 0 : Math.floor((length + GAP) / ((isBeside ? tile.height : tile.width) + GAP));
  const main = isBeside
    ? { ...stage, width: across, start: 0, top: 0 }
    : { ...stage, height: across, start: 0, top: 0 };
  return { isBeside, tile, main, length, capacity };
}
