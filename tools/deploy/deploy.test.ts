import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { limitRows, readLimits } from '@parley/contract/limits';
import { parse } from 'yaml';
import { readConfig } from '../../apps/server/src/config.ts';
import { settingRows } from '../../apps/server/src/settings.ts';
import { readConfig as readNodeConfig } from '../../apps/sfu/src/config.ts';
import { ChartRefused, type Values, type Yaml } from './chart.ts';
import { chartChoices, chartObjects, documentsOf } from './chart-objects.ts';
import { problemsOf, schemaProblem } from './kubernetes.ts';

const repository = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');
const at = (value: Yaml | undefined, ...path: (string | number)[]): Yaml =>
  path.reduce<Yaml>((scope, key) => (scope as Values)?.[key] ?? null, value ?? null);

/** Names that our processes read, and those of the platforms around them. */
const known = new Set([
  ...settingRows.map(({ name }) => name),
  ...Object.keys(limitRows),
  'CONTROL_URL',
  'HOST_ADDRESS',
]);

test('[DEP-1] every YAML file that is no template is valid, with no name twice', () => {
  const paths = globSync('deploy/**/*.{yml,yaml}', { cwd: repository }).filter((path) => !path.includes('templates'));
  assert.ok(paths.length >= 4, `found only ${paths}`);
  for (const path of paths) assert.equal(documentsOf(read(path)).length, 1, path);
});

describe('[DEP-2] the Dockerfile', () => {
  const lines = read('deploy/Dockerfile').replaceAll('\\\n', ' ').split('\n');
  const instructions = lines.filter((line) => /^[A-Z]+ /.test(line)).map((line) => line.split(/\s+/, 2).concat(line));
  const of = (name: string): string[] => instructions.filter(([word]) => word === name).map((words) => words[2] ?? '');

  test('names exact base images, with the Node of the repository', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'));
    assert.deepEqual(of('FROM'), ['FROM $BASE AS build', 'FROM $BASE']);
    assert.equal(of('ARG').length, 1);
    assert.ok(of('ARG')[0]?.startsWith(`ARG BASE=node:${optionalDependencies.node}-`));
  });

  test('runs as nobody special, in the exec form, with a health check and a signal', () => {
    assert.deepEqual(of('USER'), ['USER 1000:1000'], 'a number, which Kubernetes can tell from root');
    const last = instructions.map(([word]) => word);
    assert.ok(last.indexOf('USER') > last.lastIndexOf('COPY'), 'nothing is copied as the user it runs as');
    assert.ok(last.indexOf('USER') > last.lastIndexOf('RUN'));
    for (const line of [...of('ENTRYPOINT'), ...of('CMD')]) assert.match(line, /^[A-Z]+ \[".*"\]$/, line);
    assert.equal(of('HEALTHCHECK').length, 1);
    assert.match(of('HEALTHCHECK')[0] ?? '', /\/readyz/);
    assert.deepEqual(of('STOPSIGNAL'), ['STOPSIGNAL SIGTERM']);
  });

  test('installs by the lockfile, adds nothing from elsewhere and holds no secret', () => {
    assert.ok(of('COPY').some((line) => line.includes('package-lock.json')));
    assert.ok(
      of('RUN').some((line) => /npm ci --omit=dev .* && node tools\/build-pages\.ts$/.test(line)),
      'strictly',
    );
    assert.deepEqual(of('ADD'), []);
    assert.ok(!of('RUN').some((line) => /curl|wget|sudo|apt-get upgrade|npm install (?!--)/.test(line)));
    assert.ok(![...of('ENV'), ...of('ARG')].some((line) => /SECRET|PASSWORD|TOKEN/.test(line)));
  });

  test('has parley on its path, and names a UDP port for each core', () => {
    assert.ok(of('ENV').some((line) => line.includes('PATH=/app/node_modules/.bin:$PATH')));
    assert.deepEqual(of('ENTRYPOINT'), ['ENTRYPOINT ["parley"]']);
    const [, from, to] =
      /80\/tcp 443\/tcp 4000\/tcp 3478\/tcp 3478\/udp (\d+)-(\d+)\/udp 4480\/tcp$/.exec(of('EXPOSE')[0] ?? '') ?? [];
    assert.deepEqual([Number(from), Number(to) - Number(from) + 1], [4443, 64]);
  });

  test('copies what exists, and the context leaves out what must not be in an image', () => {
    for (const line of of('COPY').filter((one) => !one.includes('--from'))) {
      const sources = line.split(/\s+/).slice(1, -1);
      for (const source of sources) assert.ok(globSync(source, { cwd: repository }).length > 0, source);
    }
    for (const name of ['.git', '**/node_modules', '**/.parley', '**/.env'])
      assert.ok(read('.dockerignore').split('\n').includes(name), name);
  });
});

describe('[DEP-3] docker-compose', () => {
  const compose: Yaml = parse(read('deploy/compose/docker-compose.yml'), { merge: true });
  const services = at(compose, 'services') as { [name: string]: Values };

  test('has every part, pinned, restarted, and in an order that waits for health', () => {
    assert.deepEqual(Object.keys(services).sort(), ['postgres', 'proxy', 'redis', 'server', 'sfu']);
    for (const [name, service] of Object.entries(services)) {
      assert.equal(service['restart'], 'unless-stopped', name);
      if (!['server', 'sfu'].includes(name)) assert.match(String(service['image']), /:[\d.]+[\w.-]*$/, name);
    }
    assert.equal(at(services['server'], 'depends_on', 'postgres', 'condition'), 'service_healthy');
    for (const name of ['postgres', 'redis']) assert.ok(at(services[name], 'healthcheck', 'test'), name);
  });

  test('gives ours no privileges, and publishes only what clients need', () => {
    for (const name of ['server', 'sfu']) {
      assert.equal(at(services[name], 'read_only'), true);
      assert.deepEqual(at(services[name], 'cap_drop'), ['ALL']);
      assert.deepEqual(at(services[name], 'security_opt'), ['no-new-privileges:true']);
    }
    assert.deepEqual(at(services['server'], 'ports'), ['127.0.0.1:4000:4000'], 'only the proxy is in front');
    for (const name of ['postgres', 'redis']) assert.equal(at(services[name], 'ports'), null, name);
    // The node's control port listens on the name that servers dial: both must know it.
    assert.match(String(at(services['sfu'], 'environment', 'SFU_INTERNAL_URL')), /\/\/host\.docker\.internal:/);
    for (const name of ['server', 'sfu'])
      assert.deepEqual(at(services[name], 'extra_hosts'), ['host.docker.internal:host-gateway'], name);
  });

  test('sets nothing that is no setting, holds no secret, and asks for each it needs', () => {
    const text = read('deploy/compose/docker-compose.yml');
    for (const name of ['server', 'sfu'])
      for (const variable of Object.keys(at(services[name], 'environment') as Values))
        assert.ok(known.has(variable), variable);
    const wanted = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, variable = '']) => variable));
    const offered = new Set([...read('deploy/compose/env.example').matchAll(/^(\w+)=/gm)].map(([, name = '']) => name));
    for (const variable of wanted) assert.ok(offered.has(variable) || variable === 'PARLEY_IMAGE', variable);
    for (const [, name, value] of read('deploy/compose/env.example').matchAll(
      /^(\w*(?:SECRET|PASSWORD|KEY)\w*)=(.*)$/gm,
    ))
      assert.equal(value, '', `${name} has a default`);
    for (const secret of ['SECRET_KEY', 'SFU_REGISTRATION_SECRET', 'POSTGRES_PASSWORD', 'REDIS_PASSWORD'])
      assert.match(text, new RegExp(`\\$\\{${secret}:\\?`), `${secret} must be asked for`);
  });

  test('its server would start with what it is given', () => {
    const given = at(services['server'], 'environment') as Values;
    const filled = Object.fromEntries(
      Object.entries(given).map(([name, value]) => [
        name,
        String(value).replaceAll(/\$\{(\w+)(?:[:?-][^}]*)?\}/g, (_, variable: string) =>
          variable === 'DOMAIN'
            ? 'rtc.test'
            : /SECRET|KEY|PASSWORD/.test(variable)
              ? `${variable}-0123456789-abcdefghijk`
              : '',
        ),
      ]),
    );
    const config = readConfig({ NODE_ENV: 'production', ...filled });
    assert.deepEqual([config.publicUrl, config.runsMediaNode], ['https://rtc.test', false]);
  });
});

/** The pods that these objects are or make. */
const podsOf = (objects: readonly Values[]): Values[] =>
  objects.flatMap((object) => {
    const spec = at(object, 'spec', 'template', 'spec') ?? (object['kind'] === 'Pod' ? at(object, 'spec') : null);
    return spec ? [spec as Values] : [];
  });

describe('[DEP-4] the chart', () => {
  const kinds = (given?: Values) =>
    chartObjects(given)
      .map(({ kind }) => kind)
      .sort();

  test('makes what is asked for, and says what is missing', () => {
    const account = ['ClusterRole', 'ClusterRoleBinding', 'ServiceAccount'];
    const rest = ['DaemonSet', 'Deployment', 'Ingress', 'Job', 'Pod', 'PodDisruptionBudget', 'Service'];
    const always = [...account, ...rest].sort();
    assert.deepEqual(kinds(), always);
    const scaled = kinds({ server: { autoscaling: { enabled: true } } });
    assert.deepEqual(scaled, [...always, 'HorizontalPodAutoscaler'].sort());
    assert.deepEqual(kinds({ sfu: { enabled: false }, ingress: { enabled: false }, migrations: { enabled: false } }), [
      'Deployment',
      'Pod',
      'PodDisruptionBudget',
      'Service',
    ]);
    assert.deepEqual(kinds({ sfu: { asksCluster: false } }), rest);
    assert.throws(() => chartObjects({ publicUrl: '' }), new ChartRefused('publicUrl must be set'));
    assert.throws(() => chartObjects({ existingSecret: '' }), ChartRefused);
  });

  test('believes forwarded addresses only from proxies that were named', () => {
    assert.throws(
      () => chartObjects({ trustedProxies: '' }),
      new ChartRefused('trustedProxies must name the proxies in front'),
    );
    const server = chartObjects().find(({ kind }) => kind === 'Deployment');
    const env = at(server, 'spec', 'template', 'spec', 'containers', 0, 'env') as Values[];
    assert.deepEqual(
      env.filter(({ name }) => name === 'TRUST_PROXY').map(({ value }) => value),
      ['10.42.3.0/24'],
    );
  });

  test('[PIPE-27] nodes have pipes to each other once a port for them is named', () => {
    const sfuOf = (values: Values) => {
      const node = chartObjects(values).find(({ kind }) => kind === 'DaemonSet');
      const container = at(node, 'spec', 'template', 'spec', 'containers', 0) as { env: Values[]; ports: Values[] };
      return [
        container.env.find(({ name }) => name === 'SFU_PIPE_PORT')?.['value'],
        container.ports.find(({ name }) => name === 'pipes')?.['hostPort'],
      ];
    };
    assert.deepEqual(sfuOf({}), ['off', undefined]);
    assert.deepEqual(sfuOf({ sfu: { pipePort: 4600 } }), ['4600', 4600]);
  });

  test('every object has a name, labels and an API version; selectors choose what the templates are labelled', () => {
    for (const object of chartObjects({ server: { autoscaling: { enabled: true } } })) {
      assert.match(String(object['apiVersion']), /^(v1|[\w.]+\/v[12])$/);
      assert.ok(String(at(object, 'metadata', 'name')).startsWith('test'));
      assert.equal(at(object, 'metadata', 'labels', 'app.kubernetes.io/instance'), 'test');
      const chosen = at(object, 'spec', 'selector', 'matchLabels') as Values | null;
      const labels = at(object, 'spec', 'template', 'metadata', 'labels') as Values | null;
      if (chosen && labels) assert.partialDeepStrictEqual(labels, chosen);
    }
  });

  test('every pod is unprivileged, with an image, limits and settings that exist', () => {
    const pods = podsOf(chartObjects({ imagePullSecrets: [{ name: 'registry' }] }));
    assert.equal(pods.length, 4);
    for (const pod of pods) {
      assert.equal(at(pod, 'securityContext', 'runAsNonRoot'), true);
      assert.equal(at(pod, 'automountServiceAccountToken'), false);
      assert.equal(at(pod, 'enableServiceLinks'), false);
      assert.deepEqual(at(pod, 'imagePullSecrets'), [{ name: 'registry' }]);
      const container = at(pod, 'containers', 0) as Values;
      assert.equal(container['image'], 'parley:0.1.0');
      assert.equal(at(container, 'securityContext', 'readOnlyRootFilesystem'), true);
      assert.equal(at(container, 'securityContext', 'allowPrivilegeEscalation'), false);
      for (const variable of (at(container, 'env') ?? []) as Values[])
        assert.ok(known.has(String(variable['name'])), String(variable['name']));
    }
    const server = chartObjects().find(({ kind }) => kind === 'Deployment');
    assert.equal(
      at(server, 'spec', 'template', 'spec', 'containers', 0, 'readinessProbe', 'httpGet', 'path'),
      '/readyz',
    );
    assert.equal(at(server, 'spec', 'replicas'), 2);
    const node = chartObjects().find(({ kind }) => kind === 'DaemonSet');
    assert.equal(at(node, 'spec', 'template', 'spec', 'hostNetwork'), true);
  });

  /** The pod of a media node. */
  const nodeOf = (sfu: Values) => podsOf(chartObjects({ sfu }).filter(({ kind }) => kind === 'DaemonSet'))[0];

  test('media nodes are probed, sized by their processes, and announce what the values say', () => {
    const containerOf = (sfu: Values) => at(nodeOf(sfu), 'containers', 0);
    const envOf = (container: Yaml) =>
      Object.fromEntries((at(container, 'env') as Values[]).map(({ name, value = null }) => [String(name), value]));
    const node = containerOf({ processes: 4, announcedHost: '$(SFU_NAME).media.test' });
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'])
      assert.equal(at(node, probe, 'tcpSocket', 'port'), 'control', probe);
    assert.deepEqual(at(node, 'resources'), { requests: { cpu: '4', memory: '2048Mi' }, limits: { memory: '4096Mi' } });
    const { SFU_PROCESSES, SFU_ANNOUNCED_HOST } = envOf(node);
    assert.deepEqual([SFU_PROCESSES, SFU_ANNOUNCED_HOST], ['4', '$(SFU_NAME).media.test']);
    assert.equal(envOf(containerOf({}))['SFU_ANNOUNCED_HOST'], '', 'a node finds its own addresses');
    assert.equal(
      envOf(containerOf({ settings: { SFU_STUN_SERVER: 'stun.test:3478' } }))['SFU_STUN_SERVER'],
      'stun.test:3478',
    );
    const names = Object.keys(envOf(containerOf({})));
    for (const used of ['HOST_ADDRESS', 'SFU_NAME'])
      assert.ok(names.indexOf(used) < names.indexOf('SFU_ANNOUNCED_HOST'), `${used} is known before it is used`);
  });

  test('[DEP-8] every object is one that the API of Kubernetes takes, whatever is chosen', () => {
    for (const choice of chartChoices)
      for (const object of chartObjects(choice)) assert.deepEqual(problemsOf(object), [], String(object['kind']));
  });

  test('[DEP-12] and one that holds before the schemas which Kubernetes publishes for its kind', async () => {
    for (const object of chartChoices.flatMap((choice) => chartObjects(choice)))
      assert.equal(await schemaProblem(object), null, String(object['kind']));
    const service = chartObjects().find(({ kind }) => kind === 'Service');
    const ports = [{ port: '443' }];
    assert.match((await schemaProblem({ ...service, spec: { ports } })) ?? '', /ports\/0\/port must be integer/);
  });

  test('[DEP-8] and the check sees what the API would refuse', () => {
    const service = chartObjects().find(({ kind }) => kind === 'Service');
    assert.ok(service);
    const [mistyped] = problemsOf({ ...service, spec: { ...(service['spec'] as Values), selectors: {} } });
    assert.match(mistyped ?? '', /^v1 Service\/spec\/selectors: /);
    assert.notDeepEqual(problemsOf({ ...service, metadata: { name: 'Not_A_Name' } }), []);
    assert.deepEqual(problemsOf({ ...service, apiVersion: 'v2' }), ['v2 Service is no kind of ours']);
  });

  test('media nodes may ask the cluster for their machine and nothing else, unless the values say no', () => {
    const role = chartObjects().find(({ kind }) => kind === 'ClusterRole');
    assert.deepEqual(role?.['rules'], [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]);
    const asks = (sfu: Values) =>
      JSON.stringify(chartObjects({ sfu }).find(({ kind }) => kind === 'DaemonSet')).includes('SFU_KUBERNETES_NODE');
    assert.deepEqual([asks({}), asks({ asksCluster: false })], [true, false]);
  });

  test('[DEP-9] a media node has a token of ten minutes where it looks for one, and without the question none', () => {
    const mounts = (sfu: Values) => at(nodeOf(sfu), 'containers', 0, 'volumeMounts') as Values[];
    const pod = { SFU_KUBERNETES_NODE: 'worker-1', KUBERNETES_SERVICE_HOST: '10.96.0.1' };
    const { cluster } = readNodeConfig({ ...pod, SFU_REGISTRATION_SECRET: 's'.repeat(32) });
    assert.deepEqual(mounts({})[1], { name: 'account', mountPath: cluster?.credentials, readOnly: true });
    assert.deepEqual(at(nodeOf({}), 'volumes', 1, 'projected', 'sources'), [
      { serviceAccountToken: { path: 'token', expirationSeconds: 600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    ]);
    const without = nodeOf({ asksCluster: false });
    assert.deepEqual([mounts({ asksCluster: false }).length, at(without, 'volumes', 1)], [1, null]);
  });

  test('/metrics is on a port that neither Service nor Ingress has', () => {
    const server = chartObjects().find(({ kind }) => kind === 'Deployment');
    const env = at(server, 'spec', 'template', 'spec', 'containers', 0, 'env') as Values[];
    assert.equal(env.find(({ name }) => name === 'METRICS_PORT')?.['value'], '9090');
    assert.equal(at(server, 'spec', 'template', 'metadata', 'annotations', 'prometheus.io/port'), '9090');
    const node = chartObjects({ sfu: { controlPort: 4490 } }).find(({ kind }) => kind === 'DaemonSet');
    const marks = at(node, 'spec', 'template', 'metadata', 'annotations');
    assert.deepEqual(marks, { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '4490' });
    const service = chartObjects().find(({ kind }) => kind === 'Service');
    assert.deepEqual(at(service, 'spec', 'ports'), [{ name: 'http', port: 80, targetPort: 'http' }]);
  });
});

describe('[DEP-5] the systemd units', () => {
  const units = globSync('deploy/systemd/*.service', { cwd: repository });

  test('confine the process and read their settings from a file', () => {
    assert.equal(units.length, 2);
    for (const path of units) {
      const unit = read(path);
      for (const line of [
        'User=parley',
        'NoNewPrivileges=true',
        'ProtectSystem=strict',
        'PrivateTmp=true',
        'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
        'AmbientCapabilities=CAP_NET_BIND_SERVICE',
        'Restart=always',
        'EnvironmentFile=/etc/parley/parley.env',
      ])
        assert.ok(unit.split('\n').includes(line), `${path}: ${line}`);
      assert.ok(!unit.includes('MemoryDenyWriteExecute=true'), 'V8 writes code it then runs');
    }
    for (const [, name = '', value = ''] of read('deploy/systemd/parley.env').matchAll(/^(\w+)=(.*)$/gm)) {
      assert.ok(known.has(name), name);
      if (/SECRET|KEY/.test(name)) assert.equal(value, '');
    }
  });

  test('pass systemd-analyze verify', (context) => {
    for (const path of units) {
      try {
        execFileSync('systemd-analyze', ['verify', join(repository, path)], { encoding: 'utf8', stdio: 'pipe' });
      } catch (error) {
        const { code, stderr = '' } = error as { code?: string; stderr?: string };
        if (code === 'ENOENT') return context.skip('systemd-analyze is not installed');
        // The machine of the suite has no /opt/parley; everything else must hold.
        const problems = stderr
          .split('\n')
          .filter((line) => line !== '' && !/is not executable: No such file/.test(line));
        assert.deepEqual(problems, [], path);
      }
    }
  });
});

describe('[DEP-6] what stops a process waits as long as it may drain, and a little longer', () => {
  /** To move who is left, flush and end. */
  const littleSeconds = 5;
  const { SOCKETS_DRAIN_SECONDS, HTTP_DRAIN_SECONDS } = readLimits({}).limits;
  const serverSeconds = SOCKETS_DRAIN_SECONDS + HTTP_DRAIN_SECONDS + littleSeconds;
  const nodeSeconds = (given: Record<string, string> = {}): number =>
    readNodeConfig({ NODE_ENV: 'production', SFU_REGISTRATION_SECRET: 'x'.repeat(32), ...given }).drainSeconds +
    littleSeconds;

  test('systemd units', () => {
    const seconds = (unit: string): number =>
      Number(/^TimeoutStopSec=(\d+)$/m.exec(read(`deploy/systemd/${unit}.service`))?.[1]);
    assert.ok(seconds('parley-server') >= serverSeconds);
    assert.ok(seconds('parley-sfu') >= nodeSeconds());
  });

  test('Compose', () => {
    const { services } = parse(read('deploy/compose/docker-compose.yml'), { merge: true }) as {
      services: Record<string, { stop_grace_period?: string; environment?: Record<string, string> }>;
    };
    const seconds = (name: string): number => Number.parseInt(services[name]?.stop_grace_period ?? '0', 10);
    assert.ok(seconds('server') >= serverSeconds);
    assert.ok(seconds('sfu') >= nodeSeconds());
  });

  test('the chart', () => {
    const { server, sfu } = parse(read('deploy/helm/parley/values.yaml'));
    const preStopSeconds = 3;
    assert.ok(server.terminationGracePeriodSeconds >= serverSeconds + preStopSeconds);
    assert.ok(sfu.terminationGracePeriodSeconds >= nodeSeconds({ SFU_DRAIN_SECONDS: String(sfu.drainSeconds) }));
  });
});
