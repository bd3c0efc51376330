/* all-floats [DOUBLES]: decimal against the C++ library (std::to_chars is Ryu, std::from_chars
 * fast_float): every f32, then DOUBLES f64 (default 10^8) at random, on all cores; and rows by
 * every kernel against numbers one by one. Prints what differs and a count of it. About 0.4 us of
 * one core a number: 17 minutes for all floats on one. */
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "decimal.h"
#include "decimal_kernel.h"
}

namespace
{

constexpr size_t ROW = 4096;

std::atomic<uint64_t> wrong{0};

void
complain(const char *what, const std::string &ours, const std::string &theirs)
{
	if (wrong++ < 20)
		std::printf("%s: ours '%s', theirs '%s'\n", what, ours.c_str(), theirs.c_str());
}

template <class Float, class Bits>
Float
float_of(Bits bits)
{
	Float x;
	std::memcpy(&x, &bits, sizeof x);
	return x;
}

template <class Bits, class Float>
Bits
bits_of(Float x)
{
	Bits bits;
	std::memcpy(&bits, &x, sizeof bits);
	return bits;
}

size_t
write(char *to, float x)
{
	return pe_decimal_write_f32(to, x);
}

size_t
write(char *to, double x)
{
	return pe_decimal_write_f64(to, x);
}

enum pe_decimal
read(const char *s, const char *end, float *x, const char **behind)
{
	return pe_decimal_read_f32(s, end, x, behind);
}

enum pe_decimal
read(const char *s, const char *end, double *x, const char **behind)
{
	return pe_decimal_read_f64(s, end, x, behind);
}

/* "d.dddde+xx" laid out as decimal.h says; few steps, all on characters. Returns the length. */
size_t
lay_out(char *to, const char *s, const char *end)
{
	char digits[40];
	size_t count = 0;
	const char *const mark = std::find(s, end, 'e');
	int exponent = 0;

	std::memset(digits, '0', sizeof digits);
	for (const char *p = s; p < mark; p++)
		if (*p != '.')
			digits[count++] = *p;
	while (count > 1 && digits[count - 1] == '0')
		count--;
	for (const char *p = mark + 2; p < end; p++)
		exponent = exponent * 10 + (*p - '0');
	exponent = mark[1] == '-' ? -exponent : exponent;

	char *at = to;
	if (exponent >= 16 || exponent < -4) {
		*at++ = digits[0];
		if (count > 1) {
			*at++ = '.';
			at = std::copy(digits + 1, digits + count, at);
		}
		return static_cast<size_t>(std::copy(mark, end, at) - to);
	}
	if (exponent < 0) {
		*at++ = '0';
		*at++ = '.';
		at = std::fill_n(at, -exponent - 1, '0');
		return static_cast<size_t>(std::copy(digits, digits + count, at) - to);
	}
	const size_t point = static_cast<size_t>(exponent) + 1;
	at = std::copy(digits, digits + point, at);
	if (count > point) {
		*at++ = '.';
		at = std::copy(digits + point, digits + count, at);
	}
	return static_cast<size_t>(at - to);
}

size_t
write_row(const struct pe_decimal_kernel *kernel, char *to, const float *x, size_t n)
{
	return kernel->write_f32(to, ',', x, 1, n);
}

size_t
write_row(const struct pe_decimal_kernel *kernel, char *to, const double *x, size_t n)
{
	return kernel->write_f64(to, ',', x, 1, n);
}

/* A row by every kernel against its numbers one by one. */
template <class Float>
void
check_row(const std::vector<Float> &x)
{
	std::string due, row(x.size() * (PE_DECIMAL_MAX + 1), ' ');
	char one[PE_DECIMAL_MAX];
	const struct pe_decimal_kernel *kernel;

	for (const Float value : x)
		due.append(one, write(one, value)).append(1, ',');
	due.back() = '\n';
	for (size_t k = 0; (kernel = pe_decimal_kernel_at(k)) != nullptr; k++) {
		if (!kernel->runs())
			continue;
		const size_t size = write_row(kernel, &row[0], x.data(), x.size());
		const auto at = std::mismatch(due.begin(), due.end(), row.begin()).first - due.begin();
		if (size != due.size() || static_cast<size_t>(at) < size)
			complain(kernel->name, row.substr(static_cast<size_t>(at), 40),
				 due.substr(static_cast<size_t>(at), 40));
	}
}

/* x > 0: its text, that of -x, and both read back. */
template <class Float, class Bits>
void
check_shortest(Float x)
{
	char ours[PE_DECIMAL_MAX], minus[PE_DECIMAL_MAX], text[64], theirs[64];
	const size_t size = write(ours, x), size_minus = write(minus, -x);
	const auto end =
	    std::to_chars(text, text + sizeof text, x, std::chars_format::scientific).ptr;
	const size_t due = lay_out(theirs, text, end);

	if (size != due || std::memcmp(ours, theirs, size) != 0)
		complain("shortest", {ours, size}, {theirs, due});
	if (size_minus != size + 1 || minus[0] != '-' || std::memcmp(minus + 1, ours, size) != 0)
		complain("sign", {minus, size_minus}, {ours, size});
	Float back;
	const char *behind;
	if (read(ours, ours + size, &back, &behind) != PE_DECIMAL_OK || behind != ours + size ||
	    bits_of<Bits>(back) != bits_of<Bits>(x))
		complain("reads back", {ours, size}, std::to_string(back));
	if (read(minus, minus + size_minus, &back, &behind) != PE_DECIMAL_OK ||
	    behind != minus + size_minus || bits_of<Bits>(back) != bits_of<Bits>(-x))
		complain("reads back", {minus, size_minus}, std::to_string(back));
}

template <class Float, class Bits>
void
check_reads(const char *s, const char *end)
{
	Float ours, theirs;
	const char *behind;
	const enum pe_decimal status = read(s, end, &ours, &behind);
	const auto result = std::from_chars(s, end, theirs);

	if (result.ec == std::errc::result_out_of_range) { /* it does not say to which side */
		if (status == PE_DECIMAL_OK && ours != 0)
			complain("out of range", {s, end}, std::to_string(ours));
		return;
	}
	if (status != PE_DECIMAL_OK || behind != result.ptr ||
	    bits_of<Bits>(ours) != bits_of<Bits>(theirs))
		complain("read", {s, end}, std::to_string(theirs));
}

/* The decimal that stands for the middle between a float and the next: one of them, or their tie. */
void
check_middle(float x)
{
	char text[PE_DECIMAL_MAX];
	const float more = float_of<float>(bits_of<uint32_t>(x) + 1);
	const double middle = (static_cast<double>(x) + static_cast<double>(more)) / 2;

	if (std::isinf(more))
		return;
	check_reads<float, uint32_t>(text, text + pe_decimal_write_f64(text, middle));
}

void
check_floats(uint64_t block)
{
	std::vector<float> row;

	for (uint64_t bits = block << 20; bits < (block + 1) << 20; bits++) {
		const float x = float_of<float>(static_cast<uint32_t>(bits));
		row.push_back(x);
		row.push_back(-x);
		if (row.size() == ROW) {
			check_row(row);
			row.clear();
		}
	}
	for (uint64_t bits = block << 20; bits < (block + 1) << 20; bits++) {
		const float x = float_of<float>(static_cast<uint32_t>(bits));
		if (x > 0 && std::isfinite(x)) {
			check_shortest<float, uint32_t>(x);
			check_middle(x);
			continue;
		}
		char ours[PE_DECIMAL_MAX], minus[PE_DECIMAL_MAX];
		const std::string plus(ours, write(ours, x)), negative(minus, write(minus, -x));
		const std::string due = x == 0 ? "0" : std::isinf(x) ? "inf" : "nan";
		if (plus != due || negative != (std::isnan(x) ? due : "-" + due))
			complain("special", plus + " " + negative, due);
	}
}

void
check_doubles(uint64_t block)
{
	uint64_t state = block;
	const auto next = [&state] { /* splitmix64 */
				     uint64_t z = state += 0x9e3779b97f4a7c15;
				     z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
				     z = (z ^ z >> 27) * 0x94d049bb133111eb;
				     return z ^ z >> 31;
	};

	std::vector<double> row;
	state = next();
	for (uint64_t i = 0; i < 1 << 20; i++) {
		uint64_t bits = next() & ~(UINT64_C(1) << 63);
		if (i % 4 == 1) /* sizes of a table */
			bits = (bits & ((UINT64_C(1) << 52) - 1)) | (980 + next() % 64) << 52;
		if (i % 4 == 2) /* few bits: ties and ends of intervals */
			bits &= ~((UINT64_C(1) << next() % 53) - 1);
		const double x = float_of<double>(bits);
		if (!(x > 0) || !std::isfinite(x))
			continue;
		check_shortest<double, uint64_t>(x);
		row.push_back(i & 1 ? x : -x);
		if (row.size() == ROW) {
			check_row(row);
			row.clear();
		}

		char ours[PE_DECIMAL_MAX], text[64], theirs[64];
		const int digits = 1 + static_cast<int>(next() % 17);
		const auto end = std::to_chars(text, text + sizeof text, x,
					       std::chars_format::scientific, digits - 1)
				     .ptr;
		const size_t due = lay_out(theirs, text, end);
		const size_t size = pe_decimal_write_digits(ours, x, digits);
		if (size != due || std::memcmp(ours, theirs, size) != 0)
			complain("digits", {ours, size}, {theirs, due});
		check_reads<double, uint64_t>(text, end);
		check_reads<float, uint32_t>(text, end);
	}
}

/* Hands blocks 0 .. count - 1 to the cores. */
void
spread(const char *what, uint64_t count, void (*check)(uint64_t))
{
	std::atomic<uint64_t> taken{0};
	std::vector<std::thread> threads;

	for (unsigned i = std::max(1u, std::thread::hardware_concurrency()); i > 0; i--)
		threads.emplace_back([&] {
			for (uint64_t block; (block = taken++) < count;) {
				check(block);
				if ((block + 1) % 128 == 0)
					std::fprintf(stderr, "%s: %llu of %llu million\n", what,
						     static_cast<unsigned long long>(block + 1),
						     static_cast<unsigned long long>(count));
			}
		});
	for (auto &t : threads)
		t.join();
}

} // namespace

int
main(int argc, char **argv)
{
	const uint64_t doubles = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000000;

	spread("floats and their negatives", UINT64_C(1) << 11, check_floats);
	spread("doubles", (doubles >> 20) + 1, check_doubles);
	std::printf("all floats and %llu million doubles: %llu wrong\n",
		    static_cast<unsigned long long>((doubles >> 20) + 1),
		    static_cast<unsigned long long>(wrong));
	return wrong != 0;
}
