import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import type { TestProject } from '../../apps/server/testkit/kit/people.ts';
import { skipWithoutBrowser } from '../browser.ts';
import { visitDashboard } from '../dashboard-kit.ts';
import { buildPages } from '../page-builds.ts';
import { openPages, type Pages } from './kit.ts';
import { type SdkStage, sharedStage } from './stage.ts';

const skip = skipWithoutBrowser();
let stage: SdkStage;
let project: TestProject;
let pages: Pages;
before(async () => {
  if (skip) return;
  stage = await sharedStage();
  project = await stage.newProject();
  pages = await openPages(stage.url, project.api);
});
after(async () => {
  if (skip) return;
  stage.heal();
  await pages.close();
});

test('[OBS-27] [DASH-72] a call whose uplink loses packets is found, and a sentence names who lost them, on its page too', {
  skip,
}, async () => {
  const room = await pages.newRoom();
  const [ada, bob] = [await pages.caller(room, 'ada'), await pages.caller(room, 'bob')];
  await ada.join();
  await bob.join();
  // Sound alone: the path is what is looked at, and pictures cost.
  await ada.setMicrophone(true);
  stage.udp.up.loss = 0.3;
  const { api } = project.owner;
  const { finding, callId } = await eventually(
    async () => {
      const [call] = await api.call('listProjectCalls', { projectId: project.id, query: { sort: 'worst' } });
      assert.ok(call, 'nothing was measured yet');
      const { findings } = await api.call('getProjectCall', { projectId: project.id, callId: call.id });
      const found = findings.find(({ rule }) => rule === 'UPLINK_LOSS');
      assert.ok(found, JSON.stringify(findings));
      return { finding: found, callId: call.id };
    },
    { withinMs: 120_000, everyMs: 1_000 },
  );
  assert.equal(finding.participant, 'ada');
  assert.match(finding.sentence, /^The uplink of ada lost up to \d+ % /);
  stage.heal();
  buildPages();
  const { open, context, assertClean } = await visitDashboard(stage.url, { as: project.owner });
  const page = await open(`/p/${project.id}/calls/${callId}?env=development`, /^Call in /);
  const said = page.getByRole('region', { name: 'What was wrong' });
  await said.getByText(/^The uplink of ada lost up to \d+ % /).waitFor();
  await said.getByText('UPLINK_LOSS').first().waitFor();
  assertClean();
  await context.close();
});
