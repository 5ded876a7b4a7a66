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
export function gridBoxes(count: number, stage: Size, least = aspectMin(stage)): Box[] {
  let best: { columns: number; tile: Size } | null = null;
  for (let columns = 1; columns <= count; columns++) {
    const tile = tileIn(stage, columns, Math.ceil(count / columns), least);
    if (best === null || area(tile) > area(best.tile) + 0.01) best = { columns, tile };
  }
  return best === null ? [] : placed(count, stage, best.columns, best.tile);
}

const area = ({ width, height }: Size): number => width * height;

function tileIn(stage: Size, columns: number, rows: number, least: number): Size {
  const width = Math.max(0, (stage.width - GAP * (columns - 1)) / columns);
  const height = Math.max(0, (stage.height - GAP * (rows - 1)) / rows);
  if (width > height * ASPECT_MAX) return { width: height * ASPECT_MAX, height };
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

/** How many tiles of this length stand one behind the other. */
const fitting = (length: number, tile: number): number => Math.max(1, Math.floor((length + GAP) / (tile + GAP)));

/** How many tiles the stage holds at a size at which they are of use. */
export const gridCapacity = (stage: Size): number =>
  Math.min(TILES_MAX, fitting(stage.width, TILE_MIN.width) * fitting(stage.height, TILE_MIN.height));

/** Those of a page of the places, by place. */
function paged(
  places: readonly number[],
  perPage: number,
  wantedPage: number,
  arrange: (count: number) => readonly Box[],
): Arrangement {
  const pages = Math.max(1, Math.ceil(places.length / perPage));
  const page = Math.min(Math.max(0, wantedPage), pages - 1);
  const shown = places.slice(page * perPage, (page + 1) * perPage);
  const boxes = arrange(shown.length);
  return { boxes: new Map(boxes.map((box, index) => [shown[index] ?? 0, box])), page, pages };
}

const placesOf = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** All alike, page by page where they do not fit. */
export const arrangeGrid = (count: number, stage: Size, wantedPage = 0): Arrangement =>
  paged(placesOf(count), gridCapacity(stage), wantedPage, (shown) => gridBoxes(shown, stage));

/** One large; the others in a strip at its side, or all over what is below it on a stage that is taller than wide. */
export function arrangeFocus(count: number, focus: number, stage: Size, wantedPage = 0): Arrangement {
  const others = placesOf(count).filter((place) => place !== focus);
  const { main, rest, perPage, least } = stage.width > stage.height * 1.1 ? beside(stage) : below(stage, others.length);
  if (others.length === 0 || perPage === 0)
    return { boxes: new Map([[focus, { ...stage, start: 0, top: 0 }]]), page: 0, pages: 1 };
  const { boxes, page, pages } = paged(others, perPage, wantedPage, (shown) =>
    gridBoxes(shown, rest, least).map((box) => ({ ...box, start: rest.start + box.start, top: rest.top + box.top })),
  );
  return { boxes: new Map([...boxes, [focus, main]]), page, pages };
}

interface Split {
  main: Box;
  /** Where the others are. */
  rest: Box;
  /** None: there is no room for them. */
  perPage: number;
  /** The least aspect of the others. */
  least?: number;
}

const LEAST = 80;

function beside({ width, height }: Size): Split {
  const strip = Math.min(280, Math.max(96, width * 0.18));
  const across = width - strip - GAP;
  return {
    main: { width: across, height, start: 0, top: 0 },
    rest: { width: strip, height, start: across + GAP, top: 0 },
    perPage: across < LEAST ? 0 : fitting(height, strip / ASPECT_MAX),
    least: ASPECT_MAX,
  };
}

/** A screen is wide: no higher than it is drawn, unless the others were larger then. */
function below({ width, height }: Size, others: number): Split {
  const split = (upper: number): Split => {
    const rest = { width, height: height - upper - GAP, start: 0, top: upper + GAP };
    return {
      main: { width, height: upper, start: 0, top: 0 },
      rest,
      perPage: Math.min(upper, rest.height) < LEAST ? 0 : gridCapacity(rest),
    };
  };
  const wide = split(width / 1.6);
  const [first] = gridBoxes(Math.min(others, wide.perPage), wide.rest);
  return first && area(first) > area(wide.main) ? split((height - GAP) / 2) : wide;
}
