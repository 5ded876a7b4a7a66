import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Catalogue, Entry } from './catalogue.ts';
import { de } from './de/index.ts';
import { allEnglish } from './en/all.ts';
import { negotiate, speak } from './language.ts';
import { t } from './t.ts';
import { zhHans } from './zh-hans/index.ts';

const translations: Readonly<Record<string, Catalogue>> = { de, 'zh-Hans': zhHans };
const textsOf = (entry: Entry): string[] => (typeof entry === 'string' ? [entry] : Object.values(entry));
const placesIn = (text: string): string[] => [...text.matchAll(/\{(\w+)\}/g)].map(([place]) => place).sort();

describe('texts of the dashboard', () => {
  for (const [language, catalogue] of Object.entries(translations)) {
    test(`[DASH-86] every text has the same places in ${language}, and a form for every number it tells apart`, () => {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
      const entries = Object.entries(catalogue);
      assert.ok(entries.length > 300, `only ${entries.length} texts`);
      for (const [key, entry] of entries) {
        const source: Entry | undefined = Object.entries(allEnglish).find(([name]) => name === key)?.[1];
        const [places] = textsOf(source ?? assert.fail(key)).map(placesIn);
        for (const text of textsOf(entry)) {
          assert.ok(text.trim() !== '', key);
          assert.deepEqual(placesIn(text), places, key);
        }
        if (typeof entry !== 'string') assert.deepEqual(Object.keys(entry).sort(), [...pluralCategories].sort(), key);
      }
    });
  }

  test('[DASH-86] the first language of the browser that the dashboard speaks is taken; Traditional Chinese is another', () => {
    assert.equal(negotiate(['de-AT', 'en']), 'de');
    assert.equal(negotiate(['fr', 'zh-CN', 'de']), 'zh-Hans');
    assert.equal(negotiate(['zh-TW', 'zh-HK']), 'en');
    assert.equal(negotiate(['en-US', 'de']), 'en');
    assert.equal(negotiate(['tlh', '*']), 'en');
    assert.equal(negotiate([]), 'en');
  });

  test('[DASH-86] numbers and their forms are those of the language', async (context) => {
    const page = { documentElement: { lang: 'en' } };
    Object.assign(globalThis, { document: page });
    context.after(() => {
      Reflect.deleteProperty(globalThis, 'document');
    });
    assert.equal(t('rooms.activeCount', { count: 1 }), '1 active room');
    assert.equal(t('rooms.activeCount', { count: 1234 }), '1,234 active rooms');
    await speak('de');
    assert.equal(page.documentElement.lang, 'de');
    assert.equal(t('rooms.activeCount', { count: 1 }), '1 aktiver Raum');
    assert.equal(t('rooms.activeCount', { count: 1234 }), '1.234 aktive Räume');
    await speak('zh-Hans');
    assert.equal(t('rooms.activeCount', { count: 1 }), '1 个活跃房间');
    await speak('en');
    assert.equal(t('kit.typeToConfirm', { typed: '{count}' }), 'Type {count} to confirm');
  });
});
