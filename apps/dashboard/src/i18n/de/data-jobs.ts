import type { Translated } from '../catalogue.ts';
import type { dataJobs as english } from '../en/data-jobs.ts';

export const dataJobs: Translated<typeof english> = {
  'data-jobs.lead':
    'Exporte und Löschungen dessen, was über einen Benutzer gespeichert ist, und Importe von Unterhaltungen, aus den letzten 30 Tagen. Dateien sind hier nicht zu bekommen.',
  'data-jobs.caption': 'Datenaufträge in {environment}, neueste zuerst',
  'data-jobs.kind': 'Art',
  'data-jobs.anyKind': 'Jede Art',
  'data-jobs.export': 'Export',
  'data-jobs.erasure': 'Löschung',
  'data-jobs.import': 'Import',
  'data-jobs.none': 'Noch kein Datenauftrag in {environment}',
  'data-jobs.noMatch': 'Kein Datenauftrag passt',
  'data-jobs.backendAsks': 'Dein Backend erteilt sie mit seinem Schlüssel und holt damit die Datei eines Exports.',
  'data-jobs.exportOne': 'Exportieren, was über einen Benutzer gespeichert ist',
  'data-jobs.eraseOne': 'Einen Benutzer löschen',
  'data-jobs.job': 'Auftrag',
  'data-jobs.copyJobId': 'Kennung des Auftrags kopieren',
  'data-jobs.nobody': 'Niemand mehr',
  'data-jobs.noUser': 'Nicht von einem Benutzer',
  'data-jobs.records': 'Datensätze',
  'data-jobs.finished': 'Fertig',
  'data-jobs.notYet': 'Noch nicht',
  'data-jobs.file': 'Datei',
  'data-jobs.noFile': 'Keine',
  'data-jobs.fileUntil': '{size}, bis {time}',
  'data-jobs.waiting': 'Wartet auf seine Datei',
  'data-jobs.queued': 'In der Warteschlange',
  'data-jobs.running': 'Läuft',
  'data-jobs.done': 'Erledigt',
};
