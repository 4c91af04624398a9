import type { JSX, ReactNode } from 'react';
import { kit as t } from '../strings/index.ts';
import { Button } from './button.tsx';
import { sidesOf, type Room } from './column-sides.ts';
import { cx } from './cx.ts';
import { EmptyState } from './empty-state.tsx';
import { ErrorState } from './error-state.tsx';
import { Skeleton } from './skeleton.tsx';
import { StaleNote } from './stale-note.tsx';
import { TableHead } from './table-head.tsx';

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  /** Figures stand at the right. */
  readonly align?: 'left' | 'right';
  readonly isSortable?: boolean;
  /** What stands in this column of the totals row. */
  readonly total?: ReactNode;
  /** Not on telephones: another column says the same there, or the details do. */
  readonly isWideOnly?: boolean;
  /** Not in lists that are narrower either, for the same reason. */
  readonly room?: Room | undefined;
  /** Where the column needs a width or may break. */
  readonly className?: string;
}

export interface Sort {
  readonly by: string;
  readonly direction: 'ascending' | 'descending';
}

interface TableProps<Row> {
  /** What the table shows, for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they are on their way. */
  readonly rows: readonly Row[] | undefined;
  readonly rowId: (row: Row) => string;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
  /** Shown when there is nothing at all: why, and the one next action. */
  readonly empty: { readonly title: string; readonly text?: ReactNode; readonly action?: ReactNode };
  /** Given when filters are on: then nothing found means nothing of this. */
  readonly onClearFilters?: (() => void) | undefined;
  /** Opens a row; put a link or button into a cell as well, for keyboards. */
  readonly onOpen?: (row: Row) => void;
  readonly openId?: string | undefined;
  readonly hasTotals?: boolean;
}

const SKELETON_ROWS = 5;
/** With more columns than this, they stand closer together. */
const COLUMNS_ROOMY = 8;

/** Rows and columns with every state they can be in: on their way, none, none of this filter, failed, no longer up to date. Scrolls sideways where it is narrow. */
export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { rows, error } = props;
  const hasFailed = error !== undefined && error !== null;
  if (hasFailed && rows === undefined) return <ErrorState error={error} onRetry={props.onRetry} />;
  return (
    <>
      {hasFailed && <StaleNote error={error} onRetry={props.onRetry} />}
      {rows?.length === 0 ? <Nothing empty={props.empty} onClearFilters={props.onClearFilters} /> : <Rows {...props} />}
    </>
  );
}

function Rows<Row>(props: TableProps<Row>): JSX.Element {
  const { rows } = props;
  return (
    <div
      role="region"
      aria-label={props.caption}
      tabIndex={0}
      // What is hidden from the eye in a row must scroll with it; placed in the page instead, it would make the page as long as all rows.
      // What the keyboard goes back to must not come to lie behind the head, which stays.
      className="more-behind @container/list relative max-w-full scroll-pt-12 scroll-pb-2 overflow-auto focus-visible:-outline-offset-2 md:max-h-[calc(100dvh-6rem)] print:max-h-none print:overflow-visible"
    >
      <table
        aria-busy={rows === undefined}
        data-dense={props.columns.length > COLUMNS_ROOMY || undefined}
        className="group/table w-full border-collapse text-sm"
      >
        <caption className="sr-only">{props.caption}</caption>
        <TableHead columns={props.columns} sort={props.sort} onSort={props.onSort} />
        <tbody>
          {rows === undefined ? (
            <SkeletonRows columns={props.columns} />
          ) : (
            rows.map((row) => <TableRow key={props.rowId(row)} row={row} table={props} />)
          )}
        </tbody>
        {props.hasTotals === true && rows !== undefined && <Totals columns={props.columns} />}
      </table>
    </div>
  );
}

function TableRow<Row>({ row, table }: { readonly row: Row; readonly table: TableProps<Row> }): JSX.Element {
  const isOpen = table.openId !== undefined && table.rowId(row) === table.openId;
  return (
    <tr
      onClick={table.onOpen === undefined ? undefined : () => table.onOpen?.(row)}
      className={cx(
        'border-b border-line last:border-b-0 hover:bg-hover',
        table.onOpen !== undefined && 'cursor-pointer',
        isOpen && 'bg-accent-soft',
      )}
    >
      {table.columns.map((column) => (
        <td key={column.id} className={cx(cellClass(table.columns, column), 'py-2.5')}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
}

function SkeletonRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }): JSX.Element[] {
  return Array.from({ length: SKELETON_ROWS }, (_, index) => (
    <tr key={index} className="border-b border-line last:border-b-0">
      {columns.map((column) => (
        <td key={column.id} className={cx(cellClass(columns, column), 'py-3')}>
          <Skeleton className={cx('w-20 max-w-full', column.align === 'right' && 'ml-auto')} />
        </td>
      ))}
    </tr>
  ));
}

function Totals<Row>({ columns }: { readonly columns: readonly Column<Row>[] }): JSX.Element {
  return (
    <tfoot>
      <tr className="ruled-total">
        {columns.map((column) => (
          <td key={column.id} className={cx(cellClass(columns, column), 'py-3 font-semibold')}>
            {column.total}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

type NothingProps<Row> = Pick<TableProps<Row>, 'empty' | 'onClearFilters'>;

function Nothing<Row>({ empty, onClearFilters }: NothingProps<Row>): JSX.Element {
  if (onClearFilters === undefined) return <EmptyState {...empty} />;
  return <EmptyState title={t.nothingMatches} action={<Button onClick={onClearFilters}>{t.clearFilters}</Button>} />;
}

function cellClass<Row>(columns: readonly Column<Row>[], column: Column<Row>): string {
  return cx('align-middle', sidesOf(columns, column), column.align === 'right' ? 'text-right' : 'text-left', column.className);
}
