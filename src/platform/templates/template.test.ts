import { describe, expect, test } from 'vitest';
import { compileTemplate, TemplateError, TemplateSyntaxError } from './template.ts';

const VARIABLES = {
  user: {
    sub: 'abc',
    name: 'Ann Lee',
    email: 'Ann@X.example',
    id: 42,
    ratio: 1.5,
    groups: ['a', 'b', 'c'],
    unknown: null,
    isAdult: true,
    empty: '',
    address: { city: { name: 'Bern' } },
    'odd name': 'odd',
  },
};

function render(source: string, variables: Readonly<Record<string, unknown>> = VARIABLES): string {
  return compileTemplate(source).render(variables);
}

function failureOf(source: string, variables: Readonly<Record<string, unknown>> = VARIABLES): string {
  const template = compileTemplate(source);
  try {
    return `no failure but ${template.render(variables)}`;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

function syntaxProblem(source: string, variables?: readonly string[]): string {
  try {
    compileTemplate(source, variables === undefined ? {} : { variables });
    return 'no problem';
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return error.message;
    throw error;
  }
}

describe('a template', () => {
  test.each([
    ['plain text', 'plain text'],
    ['', ''],
    ['{{ user.sub }}', 'abc'],
    ['<{{ user.name }}>', '<Ann Lee>'],
    ['{{ user["odd name"] }}', 'odd'],
    ['{{ user.address.city.name }}', 'Bern'],
    ['{{ user.address["city"].name[0] }}', 'B'],
    ['{{ user.groups[0] }}{{ user.groups[-1] }}', 'ac'],
    ['{{ user.id }} {{ user.ratio }} {{ user.isAdult }}', '42 1.5 true'],
    ['{{ [1, 2, 3,][1] }}', '2'],
    ['{{ {"a": {"b": "c"}}.a.b }}', 'c'],
    [`{{ 'it\\'s' ~ "\\u00e9\\n\\t\\\\" }}`, "it'sé\n\t\\"],
    ['{{ "}}" }}{{ "%}" }}', '}}%}'],
    ['{{ none is none }} {{ None is defined }} {{ True }} {{ False }}', 'true true true false'],
  ])('prints %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });

  test.each([
    ['{{ user.id + 1 - 3 * 2 / 4 }}', '41.5'],
    ['{{ 1 - 1 - 1 }}', '-1'],
    ['{{ 8 / 2 / 2 }}', '2'],
    ['{{ -user.id }} {{ --1 }} {{ 2 * -3 }} {{ 0 * -1 }}', '-42 1 -6 0'],
    ['{{ (1 + 2) * 3 }}', '9'],
    ['{{ user.id ~ "-" ~ 2 * 3 }}', '42-6'],
    ['{{ "a" + "b" }}', 'ab'],
    ['{{ ([1] + [2, 3]) | join("") }}', '123'],
    ['{{ 1 == 1.0 }} {{ "1" == 1 }} {{ 1 != 2 }}', 'true false true'],
    [
      '{{ user.groups == ["a", "b", "c"] }} {{ {"a": [1]} == {"a": [1]} }} {{ {"a": 1} == {"b": 1} }}',
      'true true false',
    ],
    [
      '{{ 1 < 2 }} {{ 2 <= 2 }} {{ 1 > 2 }} {{ 2 >= 3 }} {{ "a" < "b" }} {{ "b" <= "a" }}',
      'true true false false true false',
    ],
    [
      '{{ "a" in user.groups }} {{ "z" not in user.groups }} {{ "nn" in user.name }} {{ "sub" in user }}',
      'true true true true',
    ],
    ['{{ not true or true and false }} {{ not 1 == 2 }} {{ not "a" in user.groups }}', 'false true false'],
    ['{{ user.empty or user.sub }} {{ user.sub and user.name }} {{ false or 0 }}', 'abc Ann Lee 0'],
    ['{{ "a" if user.missing else "b" }}', 'b'],
    ['{{ 1 if 0 else 2 if 0 else 3 }}', '3'],
    ['[{{ "a" if false }}]', '[]'],
    ['{{ -1 | string }}', '-1'],
  ])('evaluates %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });

  test.each([
    ['{% if user.id > 50 %}a{% elif user.id > 40 %}b{% elif true %}c{% else %}d{% endif %}', 'b'],
    ['{% if user.empty %}a{% else %}b{% endif %}', 'b'],
    ['{% if user.missing %}a{% endif %}', ''],
    ['{% if user.address %}a{% endif %}{% if [] %}b{% endif %}{% if {} %}c{% endif %}', 'a'],
    ['{% for group in user.groups %}[{{ group }}]{% endfor %}', '[a][b][c]'],
    ['{% for name in user.address %}{{ name }}{% endfor %}', 'city'],
    ['{% for x in [[1, 2], [3]] %}{% for y in x %}{{ y }}{% endfor %};{% endfor %}', '12;3;'],
    ['{% set x = user.sub %}{{ x }}{{ x }}', 'abcabc'],
    ['{% if true %}{% set x = 1 %}{% endif %}{{ x }}', '1'],
    ['{% set x = 1 %}{% for y in [2, 3] %}{% set x = y %}{{ x }}{% endfor %}{{ x }}', '231'],
    ['{% set user = {"sub": "other"} %}{{ user.sub }}', 'other'],
  ])('runs %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });

  test.each([
    ['  {{- user.sub -}}  \n', 'abc'],
    ['a {%- if true -%} b {%- endif -%} c', 'abc'],
    ['a {# note #} b', 'a  b'],
    ['a {#- note -#} b', 'ab'],
    ['a {#-#} b', 'a b'],
    ['a\n', 'a'],
    ['a\n\n', 'a\n'],
    ['{{user.sub}}\n', 'abc'],
    ['{ { } } % #', '{ { } } % #'],
  ])('trims whitespace where %j says so', (source, expected) => {
    expect(render(source)).toBe(expected);
  });
});

describe('missing values', () => {
  test.each([
    ['{{ missing }}', 'line 1, column 4: "missing" is undefined, which cannot be converted to text'],
    ['{{ user.missing }}', 'line 1, column 4: "user.missing" is undefined, which cannot be converted to text'],
    ['a\n {{ user.missing.more }}', 'line 2, column 5: "user.missing" is undefined, which has no members'],
    ['{{ user.unknown.more }}', 'line 1, column 4: "user.unknown" is null, which has no members'],
    ['{{ user.groups[3] }}', 'line 1, column 4: "user.groups.3" is undefined, which cannot be converted to text'],
    ['{{ "x" ~ user.missing }}', 'line 1, column 10: "user.missing" is undefined, which cannot be converted to text'],
    ['{{ user.missing | upper }}', 'line 1, column 4: "user.missing" is undefined'],
    ['{{ user.missing.upper() }}', 'line 1, column 4: "user.missing" is undefined'],
    ['{{ user.name | replace("a", user.missing) }}', 'line 1, column 29: "user.missing" is undefined'],
    ['{% for x in user.missing %}{% endfor %}', 'line 1, column 13: "user.missing" is undefined, not a list'],
    ['{{ "a" in user.missing }}', 'line 1, column 8: "in" expects a list, a mapping or a string, not undefined'],
    ['{{ user.missing + 1 }}', 'line 1, column 17: "+" expects numbers, not undefined'],
    ['{{ [] | first }}', 'line 1, column 9: "first" is undefined, which cannot be converted to text'],
  ])('are an error of the template in %s', (source, expected) => {
    expect(failureOf(source)).toBe(expected);
  });

  test.each([
    ['{{ missing is defined }} {{ missing is not defined }} {{ user.sub is undefined }}', 'false true false'],
    ['{{ user.unknown is defined }} {{ user.unknown is none }} {{ missing is none }}', 'true true false'],
    ['{{ user.missing == "x" }} {{ user.missing == user.absent }} {{ not user.missing }}', 'false true true'],
    ['{{ user.missing | default("d") }} {{ user.unknown | default("d") }}', 'd d'],
    ['{{ user.empty | default("d") }} {{ user.empty | default("d", true) }}', ' d'],
    ['{{ user.missing | default(user.sub) | upper }}', 'ABC'],
  ])('can be tested: %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });

  test.each([
    ['{{ user.unknown }}', '"user.unknown" is null, which cannot be converted to text'],
    ['{{ user.groups }}', '"user.groups" is a list, which cannot be converted to text; use "join" or "tojson"'],
    ['{{ user.address }}', '"user.address" is a mapping, which cannot be converted to text'],
    [
      '{{ user.groups | default("x") }}',
      '"default" is a list, which cannot be converted to text; use "join" or "tojson"',
    ],
  ])('null, lists and mappings have no text either: %s', (source, expected) => {
    expect(failureOf(source)).toContain(expected);
  });
});

describe('an error in a template', () => {
  test.each([
    ['{{ user.sub', 'line 1, column 1: expected "}}" before the end'],
    ['{{ }}', 'line 1, column 4: expected a value, found "}}"'],
    ['{{ a b }}', 'line 1, column 6: expected "}}", found "b"'],
    ['{{ "a }}', 'line 1, column 4: the string is not closed'],
    ['{{ "\\q" }}', 'line 1, column 4: unknown escape "\\q" in a string'],
    ['{{ 1 ; 2 }}', 'line 1, column 6: unexpected character ";"'],
    ['{{ ü }}', 'line 1, column 4: unexpected character "ü"'],
    ['{{ 😀 }}', 'line 1, column 4: unexpected character "😀"'],
    ['{{ 12x }}', 'line 1, column 4: unexpected character "1"'],
    ['{{ 9007199254740993 }}', 'line 1, column 4: the number is too large'],
    ['é😀\n{{ (1 }}', 'line 2, column 7: expected ")", found "}}"'],
    ['{{ [1 2] }}', 'line 1, column 7: expected ",", found "2"'],
    ['{{ {"a" 1} }}', 'line 1, column 9: expected ":", found "1"'],
    ['{{ user. }}', 'line 1, column 10: expected a name, found "}}"'],
    ['{{ user["a" }}', 'line 1, column 13: expected "]", found "}}"'],
    ['{{ and }}', 'line 1, column 4: expected a value, found "and"'],
    ['{{ 1 not 2 }}', 'line 1, column 6: expected "}}", found "not"'],
    ['{{ 1 + not 2 }}', 'line 1, column 8: expected a value, found "not"'],
    ['{{ 1 < 2 < 3 }}', 'line 1, column 10: comparisons cannot be chained'],
    ['{{ 1 is odd }}', 'line 1, column 9: unknown test "odd"; available: defined, undefined, none'],
    ['{{ 1 ** 2 }}', 'line 1, column 7: expected a value, found "*"'],
    ['{% if true %}', 'line 1, column 4: "if" without "endif"'],
    ['{% if true %}{% else %}{% elif true %}{% endif %}', 'line 1, column 27: "elif" without a matching start'],
    ['{% if true %}{% endfor %}', 'line 1, column 17: "endfor" without a matching start'],
    ['{% for x in [] %}', 'line 1, column 4: "for" without "endfor"'],
    ['{% for in in [] %}{% endfor %}', 'line 1, column 8: "in" is reserved and cannot be used as a name'],
    ['{% for x of [] %}{% endfor %}', 'line 1, column 10: expected "in", found "of"'],
    ['{% set x %}', 'line 1, column 10: expected "=", found "%}"'],
    ['{% set true = 1 %}', 'line 1, column 8: "true" is reserved and cannot be used as a name'],
    ['{% endif %}', 'line 1, column 4: "endif" without a matching start'],
    ['{% include "x" %}', 'line 1, column 4: unknown statement "include"; expected if, for or set'],
    ['{% "x" %}', 'line 1, column 4: expected a statement, found a string'],
    ['{# note', 'line 1, column 1: the comment is not closed'],
    ['{{ user.sub() }}', 'line 1, column 9: unknown method "sub"; available: split, strip, '],
    ['{{ range(3) }}', 'line 1, column 9: functions are not supported; write filters after "|"'],
    ['{{ (1)(2) }}', 'line 1, column 7: functions are not supported'],
    ['{{ 1 | nope }}', 'line 1, column 8: unknown filter "nope"; available: default, lower, '],
    ['{{ 1 | replace("a") }}', 'line 1, column 8: filter "replace": requires "new"'],
    ['{{ 1 | lower("a") }}', 'line 1, column 8: filter "lower": takes at most 0 arguments'],
    ['{{ 1 | join("a", "b") }}', 'line 1, column 8: filter "join": takes at most 1 arguments'],
    ['{{ 1 | default(other=1) }}', 'line 1, column 8: filter "default": has no parameter "other"'],
    ['{{ 1 | default("a", value="b") }}', 'line 1, column 8: filter "default": has two values for "value"'],
    [
      '{{ 1 | default(value="a", true) }}',
      'line 1, column 8: filter "default": positional arguments must come before named ones',
    ],
    ['{{ 1 | default("a" }}', 'line 1, column 20: expected ",", found "}}"'],
  ])('is reported with its position: %s', (source, expected) => {
    expect(syntaxProblem(source)).toContain(expected);
  });

  test('includes a variable that the template will not get, unless it sets it', () => {
    const known = ['user', 'params'];
    expect(syntaxProblem('{{ usr.sub }}', known)).toBe(
      'line 1, column 4: unknown variable "usr"; available: user, params',
    );
    expect(syntaxProblem('{% set a = user.sub %}{% for b in [a] %}{{ a ~ b ~ params.x }}{% endfor %}', known)).toBe(
      'no problem',
    );
  });

  test('and the variables that a template reads are known without running it', () => {
    const { reads } = compileTemplate('{% if a.x is defined %}{{ b["y"] | default(c) }}{% endif %}{{ "d" }}');
    expect([...reads]).toEqual(['a', 'b', 'c']);
  });

  test('has its position as a property too', () => {
    try {
      compileTemplate('one\ntwo {{ 1 +');
      expect.fail('no error');
    } catch (error) {
      expect(error).toMatchObject({ name: 'TemplateSyntaxError', place: { line: 2, column: 5 } });
    }
  });
});

describe('a filter', () => {
  test.each([
    ['{{ user.email | lower }} {{ user.email | upper }} {{ "ẞ" | lower }}', 'ann@x.example ANN@X.EXAMPLE ß'],
    ['[{{ "  a b " | trim }}] [{{ "xxaxbx" | trim("x") }}] [{{ "abba" | trim("ab") }}]', '[a b] [axb] []'],
    ['{{ "a.b.c" | replace(".", "$&") }}', 'a$&b$&c'],
    ['{{ "aaa" | replace("aa", "b") }} {{ user.id | replace("4", "") }}', 'ba 2'],
    ['{{ "a,b,,c" | split(",") | join("|") }} {{ "a,b,c" | split(",", 1) | last }}', 'a|b||c b,c'],
    ['{{ " a  b c " | split | join("|") }} {{ " a  b c " | split(none, 1) | join("|") }}', 'a|b|c a|b c '],
    ['{{ user.groups | first }}{{ user.groups | last }}{{ "été" | first }}{{ "a😀" | last }}', 'acé😀'],
    ['{{ [] | first is defined }} {{ "" | last is defined }}', 'false false'],
    ['{{ user.groups | join }} {{ [1, "a", true] | join(separator=", ") }}', 'abc 1, a, true'],
    ['{{ user.groups | length }} {{ "a😀" | length }} {{ user.address | length }}', '3 2 1'],
    ['{{ "a bc def" | truncate(6, leeway=0) }}', 'a...'],
    ['{{ "a bc def" | truncate(5, true, "", 0) }} {{ "abcdef" | truncate(3, leeway=3) }}', 'a bc  abcdef'],
    ['{{ "abcdef" | truncate(4, leeway=0) }} {{ "😀😀😀" | truncate(2, true, "", 0) }}', 'a... 😀😀'],
    ['{{ user.id | string ~ "!" }} {{ 1.25 | string }} {{ true | string }}', '42! 1.25 true'],
    [
      '{{ "007" | int + 1 }} {{ " -3 " | int }} {{ 3.9 | int }} {{ true | int }} {{ "x" | int(default=5) }}',
      '8 -3 3 1 5',
    ],
    ['{{ "w6k=" | b64decode }} {{ "w6k" | b64decode }} {{ "_-8=" | b64decode | b64encode }}', 'é é /+8='],
    ['{{ "é" | b64encode }} {{ "é" | b64encode | b64decode | length }}', 'w6k= 2'],
    [`{{ ('{"a": [1, {"b": "c"}]}' | from_json).a[1].b }}`, 'c'],
    [
      '{{ user.groups | tojson }} {{ user.address | tojson }} {{ "<\\"" | tojson }} {{ user.unknown | tojson }}',
      '["a","b","c"] {"city":{"name":"Bern"}} "<\\"" null',
    ],
    // Field 1 "ann", field 2 "ldap", as dex encodes them.
    ['{{ ("CgNhbm4SBGxkYXA" | b64decode | tlvdecode)[10] | string }}', 'ann'],
    ['{% set f = "CgNhbm4SBGxkYXA" | b64decode | tlvdecode %}{{ f[18] }}{{ f[26] is defined }}', 'ldapfalse'],
  ])('works as the manual says: %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });

  test('reads multi-byte tags and lengths', () => {
    const long = 'x'.repeat(300);
    const encoded = Buffer.concat([Buffer.of(0x82, 0x01, 0xac, 0x02), Buffer.from(long)]).toString('base64');
    expect(render('{{ (v | b64decode | tlvdecode)[130] }}', { v: encoded })).toBe(long);
  });

  test.each([
    ['{{ user.groups | upper }}', '"upper" is a list, which cannot be converted to text'],
    ['{{ "a" | replace("", "b") }}', '"replace" cannot replace an empty string'],
    ['{{ "a" | split("") }}', '"split" cannot split at an empty string'],
    ['{{ "a" | split(",", "1") }}', '"split" expects an integer as "maxsplit", not a string'],
    ['{{ "abc" | join }}', '"join" expects a list, not a string'],
    ['{{ [1, none] | join }}', '"join" is null, which cannot be converted to text'],
    ['{{ 5 | length }}', 'no failure but 1'],
    ['{{ user | first }}', '"first" is a mapping, which cannot be converted to text'],
    ['{{ "x" | int }}', '"int" expects an integer'],
    ['{{ "" | int }}', '"int" expects an integer'],
    ['{{ "9007199254740993" | int }}', '"int" expects an integer'],
    ['{{ "a" | truncate(2) }}', '"truncate" expects "length" to be at least the length of "end"'],
    ['{{ "a===" | b64decode }}', '"b64decode" expects base64'],
    ['{{ "a" | b64decode }}', '"b64decode" expects base64'],
    ['{{ "a b=" | b64decode }}', '"b64decode" expects base64'],
    ['{{ "{" | from_json }}', '"from_json" expects JSON'],
    ['{{ ("AA==" | b64decode) | tojson }}', '"tojson" is bytes, which JSON cannot represent'],
    ['{{ "abc" | tlvdecode }}', '"tlvdecode" expects bytes, not a string'],
    ['{{ "CgNh" | b64decode | tlvdecode }}', '"tlvdecode" expects tags with lengths and values'],
    ['{{ "Cv///////w==" | b64decode | tlvdecode }}', '"tlvdecode" expects tags with lengths and values'],
    ['{{ "gA==" | b64decode | tlvdecode }}', '"tlvdecode" expects tags with lengths and values'],
  ])('rejects unsupported input: %s', (source, expected) => {
    expect(failureOf(source)).toContain(expected);
  });
});

describe('a string method', () => {
  test.each([
    ['{{ user.email.split("@")[0] }} {{ "a b".split()[1] }} {{ "a,b,c".split(",", 1)[1] }}', 'Ann b b,c'],
    ['[{{ " a ".strip() }}] {{ "xax".strip("x") }}', '[a] a'],
    [
      '{{ user.email.lower() }} {{ user.email.upper() }} {{ user.name.replace("Ann", "Eve") }}',
      'ann@x.example ANN@X.EXAMPLE Eve Lee',
    ],
    [
      '{{ user.name.startswith("Ann") }} {{ user.name.endswith("Ann") }} {{ user.email.lower().startswith("ann") }}',
      'true false true',
    ],
    ['{{ (user.email | lower).split("@") | last }}', 'x.example'],
  ])('works as in Python: %s', (source, expected) => {
    expect(render(source)).toBe(expected);
  });
});
