import type { ModerationOverview } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Figures } from '../kit/figure.tsx';
import { count } from '../kit/numbers.ts';
import { Tabs } from '../kit/tabs.tsx';
import { DeletionTable } from './deletion-table.tsx';
import { moderationQuery } from './queries.ts';
import { ReportTable } from './report-table.tsx';
import { Rules } from './rules.tsx';
import { SanctionTable } from './sanction-table.tsx';
import { t } from './texts.ts';
import { linkLabels, sizeWords } from './words.tsx';

export default function ModerationPage() {
  const { project, environment } = useProject();
  const query = useQuery(moderationQuery(useApi(), project.id, environment));
  return (
    <Page title={t('page.moderation')} query={query} lead={t('moderation.lead')}>
      <QueryView query={query}>{(overview) => <Desk overview={overview} />}</QueryView>
    </Page>
  );
}

function Desk({ overview }: { overview: ModerationOverview }) {
  const { wordLists, links, hook, scan, linkPreviews } = overview;
  return (
    <>
      <Figures
        label={t('moderation.rules')}
        figures={[
          {
            label: t('moderation.wordLists'),
            value: count(wordLists.length),
            note: sizeWords(wordLists),
          },
          { label: t('moderation.links'), value: t(linkLabels[links]) },
          {
            label: t('moderation.hook'),
            value: t(hook === null ? 'moderation.hookNone' : 'moderation.hookSet'),
            note: hook && t(hook.onFailure === 'open' ? 'moderation.opensOnFailure' : 'moderation.closesOnFailure'),
          },
          {
            label: t('moderation.scan'),
            value: t(scan === null ? 'moderation.hookNone' : 'moderation.hookSet'),
            note: scan && t(scan.onFailure === 'open' ? 'moderation.scanOpens' : 'moderation.scanCloses'),
          },
          {
            label: t('moderation.previews'),
            value: t(linkPreviews ? 'moderation.previewsOn' : 'moderation.previewsOff'),
          },
        ]}
      />
      <Tabs
        label={t('page.moderation')}
        tabs={[
          { id: 'reports', label: t('moderation.reports'), panel: () => <ReportTable /> },
          { id: 'bans', label: t('moderation.bans'), panel: () => <SanctionTable key="BAN" kind="BAN" /> },
          { id: 'mutes', label: t('moderation.mutes'), panel: () => <SanctionTable key="MUTE" kind="MUTE" /> },
          { id: 'shadows', label: t('moderation.shadows'), panel: () => <SanctionTable key="SHADOW" kind="SHADOW" /> },
          { id: 'deletions', label: t('moderation.deletions'), panel: () => <DeletionTable /> },
          { id: 'rules', label: t('moderation.rules'), panel: () => <Rules overview={overview} /> },
        ]}
      />
    </>
  );
}
