import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { changeOf, movedBy } from './list-change.ts';
import { createOffsets, type Offsets } from './offsets.ts';
import { endOf, rangeOf, topFor } from './window.ts';

const heights = fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 200 });
const offsetsOf = (list: readonly number[]): Offsets => createOffsets(Float64Array.from(list));
const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0);

describe('[KIT-20] where the rows of a long list are', () => {
  test('offsets are the sums of the heights before, whatever was measured since', () => {
    const measured = fc.array(fc.tuple(fc.nat(250), fc.integer({ min: 1, max: 400 })), { maxLength: 50 });
    fc.assert(
      fc.property(heights, measured, (list, changes) => {
        const offsets = offsetsOf(list);
        const plain = [...list];
        for (const [index, height] of changes) {
          const isOther = index < plain.length && plain[index] !== height;
          assert.equal(offsets.setHeight(index, height), isOther);
          if (index < plain.length) plain[index] = height;
        }
        assert.equal(offsets.total(), sum(plain));
        plain.forEach((height, index) => {
          assert.equal(offsets.heightOf(index), height);
          assert.equal(offsets.offsetOf(index), sum(plain.slice(0, index)));
        });
        assert.equal(offsets.offsetOf(plain.length), offsets.total());
      }),
    );
  });

  test('every position belongs to the row that covers it; beyond the ends to the first and the last', () => {
    fc.assert(
      fc.property(heights, fc.integer({ min: -500, max: 90_000 }), (list, at) => {
        const offsets = offsetsOf(list);
        const index = offsets.indexAt(at);
        if (list.length === 0) return assert.equal(index, -1);
        if (at < 0) return assert.equal(index, 0);
        if (at >= offsets.total()) return assert.equal(index, list.length - 1);
        assert.ok(offsets.offsetOf(index) <= at && at < offsets.offsetOf(index + 1));
      }),
    );
  });

  test('100,000 rows are found and measured without a walk over them', () => {
    const offsets = createOffsets(new Float64Array(100_000).fill(56));
    assert.equal(offsets.indexAt(56 * 70_000), 70_000);
    offsets.setHeight(10, 156);
    assert.equal(offsets.indexAt(56 * 70_000), 69_998);
    assert.equal(offsets.total(), 5_600_100);
  });
});

describe('[KIT-21] what stays where it is when rows come and go', () => {
  const keys = fc.uniqueArray(fc.stringMatching(/^[a-f]{1,2}$/), { maxLength: 30 });

  test('a change turns the keys before into those after', () => {
    fc.assert(
      fc.property(keys, keys, (before, after) => {
        const change = changeOf(before, after);
        const inserted = after.slice(change.start, change.start + change.added);
        assert.deepEqual(before.toSpliced(change.start, change.removed, ...inserted), after);
      }),
    );
  });

  test('heights and the anchor go with their rows when older and newer ones are added', () => {
    const added = fc.nat(60);
    fc.assert(
      fc.property(heights, added, added, fc.nat(20_000), (list, older, newer, top) => {
        fc.pre(list.length > 0 && top < sum(list));
        const before = offsetsOf(list);
        const names = list.map((_, index) => `m${index}`);
        const more = (name: string, count: number): string[] => Array.from({ length: count }, (_, at) => name + at);
        const change = changeOf(names, [...more('old', older), ...names]);
        const grown = before.changed(change, 50).changed({ start: older + list.length, removed: 0, added: newer }, 50);
        assert.equal(grown.total(), sum(list) + 50 * (older + newer));
        const { index, into } = before.anchorAt(top);
        assert.equal(grown.offsetOf(movedBy(change, index)) + into, top + 50 * older);
      }),
    );
  });

  test('a row that went is followed by the one in its place', () => {
    assert.equal(movedBy({ start: 2, removed: 3, added: 0 }, 4), 2);
    assert.equal(movedBy({ start: 2, removed: 3, added: 1 }, 4), 2);
    assert.equal(movedBy({ start: 2, removed: 3, added: 0 }, 1), 1);
    assert.equal(movedBy({ start: 2, removed: 3, added: 0 }, 6), 3);
  });
});

describe('[KIT-20] which rows are drawn', () => {
  test('all that are in view, and none far from it', () => {
    fc.assert(
      fc.property(heights, fc.nat(40_000), fc.integer({ min: 1, max: 2_000 }), (list, top, height) => {
        const offsets = offsetsOf(list);
        const { first, last } = rangeOf(offsets, { top, height }, 100);
        list.forEach((own, index) => {
          const start = offsets.offsetOf(index);
          if (start + own > top && start < top + height) assert.ok(first <= index && index <= last);
          const isEnd = index === 0 || index === list.length - 1;
          if (!isEnd && (start + own < top - 100 || start > top + height + 100))
            assert.ok(index < first || index > last);
        });
      }),
    );
  });

  test('a row is brought into view from either side, to the middle, and never beyond the ends', () => {
    const offsets = createOffsets(new Float64Array(100).fill(50));
    const view = { top: 1_000, height: 200 };
    assert.equal(topFor(offsets, 10, view, 'nearest'), 500);
    assert.equal(topFor(offsets, 22, view, 'nearest'), 1_000);
    assert.equal(topFor(offsets, 30, view, 'nearest'), 1_350);
    assert.equal(topFor(offsets, 30, view, 'start'), 1_500);
    assert.equal(topFor(offsets, 30, view, 'center'), 1_425);
    assert.equal(topFor(offsets, 99, view, 'start'), endOf(offsets, 200));
    assert.equal(topFor(offsets, 0, view, 'center'), 0);
  });
});
