import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Arrangement, arrangeFocus, arrangeGrid, type Box, gridBoxes, gridCapacity, type Size } from './layout.ts';

/** Phones, towers of text, televisions. */
const stages = fc.record({
  width: fc.double({ min: 120, max: 4000, noNaN: true }),
  height: fc.double({ min: 120, max: 2400, noNaN: true }),
});
const counts = fc.integer({ min: 1, max: 49 });
/** Rounding of doubles. */
const little = 1e-6;

const overlap = (a: Box, b: Box): boolean =>
  a.start + a.width > b.start + little &&
  b.start + b.width > a.start + little &&
  a.top + a.height > b.top + little &&
  b.top + b.height > a.top + little;

function assertTidy(boxes: readonly Box[], stage: Size): void {
  for (const [index, box] of boxes.entries()) {
    assert.ok(box.width > 0 && box.height > 0, 'every tile has an area');
    assert.ok(box.start >= -little && box.start + box.width <= stage.width + little, 'inside from side to side');
    assert.ok(box.top >= -little && box.top + box.height <= stage.height + little, 'inside from top to bottom');
    assert.ok(!boxes.slice(index + 1).some((other) => overlap(box, other)), 'no two overlap');
  }
}

test('[KIT-3] up to 49 tiles of equal size never overlap and never leave the stage, whatever its shape', () => {
  fc.assert(
    fc.property(counts, stages, (count, stage) => {
      const boxes = gridBoxes(count, stage);
      assert.equal(boxes.length, count);
      assertTidy(boxes, stage);
      assert.equal(new Set(boxes.map(({ width, height }) => `${width}×${height}`)).size, 1);
    }),
  );
});

/** The most that a tile in this many columns and rows can have of the stage. */
const areaIn = ({ width, height }: Size, columns: number, rows: number): number => {
  const [wide, high] = [(width - 8 * (columns - 1)) / columns, (height - 8 * (rows - 1)) / rows];
  const tallest = width > height ? wide : wide * (4 / 3);
  return Math.max(0, Math.min(wide, high * (16 / 9))) * Math.max(0, Math.min(high, tallest));
};

test('[KIT-3] no other number of columns shows more of each tile; every row is centred, and none but the last is short', () => {
  fc.assert(
    fc.property(counts, stages, (count, stage) => {
      const boxes = gridBoxes(count, stage);
      const rows = [...Map.groupBy(boxes, ({ top }) => top).values()];
      const columns = rows[0]?.length ?? 0;
      assert.ok(rows.slice(0, -1).every((row) => row.length === columns));
      for (const row of rows) {
        const [first, last] = [row.at(0), row.at(-1)];
        assert.ok(first && last);
        const [before, behind] = [first.start, stage.width - last.start - last.width];
        assert.ok(Math.abs(before - behind) < 0.001, 'each row is centred');
      }
      const { width = 0, height = 0 } = boxes[0] ?? {};
      for (let other = 1; other <= count; other++)
        assert.ok(areaIn(stage, other, Math.ceil(count / other)) <= width * height + 0.02, `${other} columns`);
    }),
  );
});

test('[KIT-3] two beside each other fill a wide stage, and above each other a phone', () => {
  const filled = (count: number, stage: Size): number =>
    gridBoxes(count, stage).reduce((sum, { width, height }) => sum + width * height, 0) / (stage.width * stage.height);
  assert.ok(filled(2, { width: 1280, height: 640 }) > 0.98);
  assert.ok(filled(2, { width: 390, height: 620 }) > 0.98);
  const [first, second] = gridBoxes(2, { width: 884, height: 716 });
  assert.ok(first && second && first.top < second.top, 'beside a panel above each other, where less is cut off');
  assert.ok(filled(12, { width: 1280, height: 640 }) > 0.95);
  assert.ok(filled(25, { width: 1600, height: 800 }) > 0.8);
});

/** Every tile is on exactly one page. */
function placesOn(arrange: (page: number) => Arrangement): number[] {
  const { pages } = arrange(0);
  return Array.from({ length: pages }, (_, page) => [...arrange(page).boxes.keys()]).flat();
}

test('[KIT-3] what does not fit at a size of use is on a further page, and nothing is on none', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 120 }), stages, (count, stage) => {
      const places = placesOn((page) => arrangeGrid(count, stage, page));
      assert.deepEqual(
        places,
        Array.from({ length: count }, (_, place) => place),
      );
      assert.ok(arrangeGrid(count, stage).boxes.size <= gridCapacity(stage));
      assert.equal(arrangeGrid(count, stage, 999).page, arrangeGrid(count, stage).pages - 1, 'a page that is gone');
    }),
  );
  assert.equal(gridCapacity({ width: 1920, height: 960 }), 49);
});

test('[KIT-4] the tile in focus is the largest, the others stand in a strip beside or below it', () => {
  const focused = fc.tuple(counts, fc.nat()).map(([count, seed]) => ({ count, focus: seed % count }));
  fc.assert(
    fc.property(focused, stages, ({ count, focus }, stage) => {
      const { boxes, pages } = arrangeFocus(count, focus, stage);
      assertTidy([...boxes.values()], stage);
      const main = boxes.get(focus);
      assert.ok(main);
      for (const [place, box] of boxes)
        assert.ok(place === focus || box.width * box.height <= main.width * main.height * 2, 'the strip is smaller');
      const others = placesOn((page) => arrangeFocus(count, focus, stage, page)).filter((place) => place !== focus);
      const isWhole = main.width === stage.width && main.height === stage.height;
      assert.equal(others.length, isWhole ? 0 : count - 1);
      assert.ok(pages >= 1);
    }),
  );
  const wide = arrangeFocus(4, 1, { width: 1280, height: 640 });
  assert.ok((wide.boxes.get(0)?.start ?? 0) > (wide.boxes.get(1)?.width ?? 0));
  const phone = arrangeFocus(4, 1, { width: 390, height: 640 });
  assert.ok((phone.boxes.get(0)?.top ?? 0) > (phone.boxes.get(1)?.height ?? 0));
});

/** What is left of a window for the stage: beside bars, panels and edges. */
const windows: Readonly<Record<string, Size>> = {
  'a small phone': { width: 304, height: 430 },
  'a phone': { width: 374, height: 690 },
  'a phone on its side': { width: 820, height: 270 },
  'a tablet': { width: 796, height: 950 },
  'a laptop': { width: 1256, height: 636 },
  'beside a panel': { width: 884, height: 716 },
  'a wide screen': { width: 3416, height: 1320 },
  '4k': { width: 3816, height: 2076 },
};

test('[KIT-31] on every window from a phone to 4k, 1 to 49 tiles are alike, whole, and never too small to see a face', () => {
  for (const [name, stage] of Object.entries(windows))
    for (let count = 1; count <= 49; count++) {
      const { pages } = arrangeGrid(count, stage);
      for (let page = 0; page < pages; page++) {
        const boxes = [...arrangeGrid(count, stage, page).boxes.values()];
        assertTidy(boxes, stage);
        const [{ width, height } = { width: 0, height: 0 }] = boxes;
        assert.ok(boxes.every((box) => box.width === width && box.height === height));
        assert.ok(width >= 100 && height >= 80, `${count} on ${name}: ${width} × ${height}`);
      }
    }
  assert.equal(arrangeGrid(49, windows['a laptop'] ?? assert.fail()).pages, 1, 'all at once on a laptop');
});

test('[KIT-31] on a phone a shared screen is as high as it is wide to be seen, and the people fill the rest', () => {
  const phone = windows['a phone'] ?? assert.fail();
  for (let count = 2; count <= 7; count++) {
    const { boxes, pages } = arrangeFocus(count, 0, phone);
    assert.equal(pages, 1, `${count} on one page`);
    const main = boxes.get(0) ?? assert.fail();
    const others = [...boxes].filter(([place]) => place !== 0).map(([, box]) => box);
    assertTidy([main, ...others], phone);
    assert.ok(others.every((box) => box.width * box.height <= main.width * main.height));
    const used = [main, ...others].reduce((sum, { width, height }) => sum + width * height, 0);
    assert.ok(used / (phone.width * phone.height) > 0.7, `${count}: ${used / (phone.width * phone.height)}`);
  }
});
