import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react';
import type { JSX, ReactNode } from 'react';
import { columnClass, type ColumnMinWidth } from './column-class.ts';
import { cx } from './cx.ts';

/** A column without its cells. */
export interface HeadColumn {
  readonly id: string;
  readonly header: ReactNode;
  /** Use right for figures. */
  readonly align?: 'left' | 'right';
  readonly isSortable?: boolean;
  /** Hidden on phones, where another column or the details show the same. */
  readonly isWideOnly?: boolean;
  /** Hidden in lists narrower than this, for the same reason. */
  readonly minWidth?: ColumnMinWidth | undefined;
  /** As wide as a checkbox. */
  readonly isNarrow?: boolean;
  /** Classes for its width or wrapping. */
  readonly className?: string;
}

export interface Sort {
  readonly by: string;
  readonly direction: 'ascending' | 'descending';
}

interface TableHeadProps {
  readonly columns: readonly HeadColumn[];
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

/** Header of a table. It is sticky, and sortable columns have a button. */
export function TableHead({ columns, sort, onSort }: TableHeadProps): JSX.Element {
  return (
    <thead className="sticky top-0 z-10 bg-raised">
      <tr>
        {columns.map((column) => (
          <th
            key={column.id}
            scope="col"
            aria-sort={column.isSortable === true ? (sort?.by === column.id ? sort.direction : 'none') : undefined}
            className={cx(
              'border-b border-line-strong py-2 whitespace-nowrap',
              columnClass(columns, column),
              column.align === 'right' ? 'text-right' : 'text-left',
            )}
          >
            {column.isSortable === true && onSort !== undefined ? (
              <SortButton column={column} sort={sort} onSort={onSort} />
            ) : (
              <span className="label-caps">{column.header}</span>
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

interface SortButtonProps {
  readonly column: HeadColumn;
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
}

/** The first press sorts figures in descending order and words in ascending order. */
function SortButton({ column, sort, onSort }: SortButtonProps): JSX.Element {
  const direction = sort?.by === column.id ? sort.direction : undefined;
  const first = column.align === 'right' ? 'descending' : 'ascending';
  const next = direction === undefined ? first : direction === 'ascending' ? 'descending' : 'ascending';
  const Icon = direction === undefined ? ArrowUpDown : direction === 'ascending' ? ArrowUp : ArrowDown;
  return (
    <button
      type="button"
      onClick={() => onSort({ by: column.id, direction: next })}
      className={cx('label-caps inline-flex items-center gap-1 rounded-sm hover:text-ink', direction !== undefined && 'text-ink')}
    >
      {column.header}
      <Icon aria-hidden="true" className={cx('size-3', direction === undefined && 'opacity-50')} />
    </button>
  );
}
