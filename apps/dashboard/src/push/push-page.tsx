import type { PushOverview, PushSettings } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Button } from '../kit/button.tsx';
import { Snippet } from '../kit/copy.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { Facts } from '../kit/facts.tsx';
import { SelectField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { pushQuery, useUpdatePush } from './queries.ts';
import { ServicePanel } from './service-panel.tsx';
import { t } from './texts.ts';

export default function PushPage() {
  const { project, environment } = useProject();
  const query = useQuery(pushQuery(useApi(), project.id, environment));
  return (
    <Page title={t('page.push')} query={query} lead={t('push.lead')}>
      <QueryView query={query}>{(overview) => <Overview overview={overview} />}</QueryView>
    </Page>
  );
}

function Overview({ overview }: { overview: PushOverview }) {
  const { settings } = overview;
  const { may } = useProject();
  return (
    <>
      {!may('chat:manage') && <p className="muted">{askFor('chat:manage')}</p>}
      <ServicePanel overview={overview} />
      {/* Fields take what others have changed meanwhile. */}
      <RulesForm key={settings.updatedAt} settings={settings} />
      <Snippet label={t('push.publicKey')} code={settings.webPush.publicKey} />
      <p className="muted">{t('push.publicKeyHint')}</p>
    </>
  );
}

const contents = { NONE: 'push.contentNone', PREVIEW: 'push.contentPreview' } as const;
const levels = { ALL: 'push.levelAll', MENTIONS: 'push.levelMentions', OFF: 'push.levelOff' } as const;

function RulesForm({ settings }: { settings: PushSettings }) {
  const { may } = useProject();
  const { update, done } = useUpdatePush();
  const { content, level, webPush } = settings;
  const form = useForm({
    initial: { content: content as string, level: level as string, webPushSubject: webPush.subject },
    submit: (values) =>
      update({
        // The selects offer exactly these.
        content: values.content as typeof content,
        level: values.level as typeof level,
        ...(values.webPushSubject.trim() === webPush.subject ? {} : { webPushSubject: values.webPushSubject.trim() }),
      }),
    onDone: () => done(t('push.saved')),
  });
  if (!may('chat:manage')) return <RuleFacts settings={settings} />;
  return (
    <form className="panel stack" onSubmit={form.onSubmit} noValidate aria-labelledby="push-rules">
      <h2 id="push-rules">{t('push.rules')}</h2>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <SelectField
        label={t('push.content')}
        hint={t('push.contentHint')}
        options={Object.entries(contents).map(([value, label]) => ({ value, label: t(label) }))}
        {...form.field('content')}
      />
      <SelectField
        label={t('push.level')}
        hint={t('push.levelHint')}
        options={Object.entries(levels).map(([value, label]) => ({ value, label: t(label) }))}
        {...form.field('level')}
      />
      <TextField
        label={t('push.subject')}
        hint={t('push.subjectHint')}
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        {...form.field('webPushSubject')}
      />
      <div className="row">
        <Button type="submit" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('words.save')}
        </Button>
      </div>
    </form>
  );
}

const RuleFacts = ({ settings: { content, level, webPush } }: { settings: PushSettings }) => (
  <section className="panel stack" aria-labelledby="push-rules">
    <h2 id="push-rules">{t('push.rules')}</h2>
    <Facts
      rows={[
        [t('push.content'), t(contents[content])],
        [t('push.level'), t(levels[level])],
        [t('push.subject'), webPush.subject],
      ]}
    />
    <p className="muted">{t('push.levelHint')}</p>
  </section>
);
