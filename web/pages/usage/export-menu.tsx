import { Download } from 'lucide-react';
import type { JSX } from 'react';
import { usage as t } from '../../strings/index.ts';
import { Button } from '../../ui/button.tsx';
import { Menu } from '../../ui/menu.tsx';
import { apiUrl } from '../../viewed.ts';
import type { ReportSpec } from './report.ts';

/** Menu to download exactly the data shown. */
export function ExportMenu({ spec }: { readonly spec: ReportSpec }): JSX.Element {
  const action = (part: 'chart' | 'table', format: 'csv' | 'json', label: string) => ({
    label,
    onChoose: () => location.assign(apiUrl(`/api/usage/export?${new URLSearchParams({ ...spec.query, part, format })}`)),
  });
  return (
    <Menu
      label={t.export}
      trigger={
        <Button>
          <Download aria-hidden="true" />
          {t.export}
        </Button>
      }
      actions={[
        action('chart', 'csv', t.exportChart('CSV')),
        action('chart', 'json', t.exportChart('JSON')),
        undefined,
        action('table', 'csv', t.exportTable('CSV')),
        action('table', 'json', t.exportTable('JSON')),
      ]}
    />
  );
}
