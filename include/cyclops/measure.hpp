/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcyclops in C++11: handles and regions that end with their scope.
 *
 *	cyclops_measure::measure m;
 *	cyclops_measure::region solve(m, "solve");
 *
 *	void step()
 *	{
 *		cyclops_measure::scope in(solve);
 *		…
 *	}
 *
 * Without CYCLOPS_MEASURE the classes are empty and nothing is called, so the library is not needed.
 * Nothing throws: what fails is not measured, and why() says why.
 */
#ifndef CYCLOPS_MEASURE_HPP
#define CYCLOPS_MEASURE_HPP

#include "cyclops/measure.h"

namespace cyclops_measure
{

#ifdef CYCLOPS_MEASURE

/* A handle, with the thread that makes it; it is closed and written at the end of its scope. */
class measure
{
      public:
	explicit measure(const cyclops_options *options = nullptr)
	{
		error_ = cyclops_open(&handle_, options);
	}
	~measure()
	{
		cyclops_close(handle_);
	}
	measure(const measure &) = delete;
	measure &operator=(const measure &) = delete;

	int error() const /* 0, or a negative errno: something is not counted */
	{
		return error_;
	}
	const char *why() const
	{
		return cyclops_why(handle_);
	}
	struct cyclops *handle() const
	{
		return handle_;
	}

      private:
	struct cyclops *handle_ = nullptr;
	int error_ = 0;
};

/* A thread's counters, as long as the scope. */
class thread
{
      public:
	explicit thread(const measure &m) : handle_(m.handle())
	{
		cyclops_thread_open(handle_);
	}
	~thread()
	{
		cyclops_thread_close(handle_);
	}
	thread(const thread &) = delete;
	thread &operator=(const thread &) = delete;

      private:
	struct cyclops *handle_;
};

/* A name. Regions of the same name are the same. */
class region
{
      public:
	region(const measure &m, const char *name)
		: handle_(m.handle()), id_(cyclops_region(m.handle(), name))
	{
	}
	struct cyclops *handle() const
	{
		return handle_;
	}
	int id() const
	{
		return id_;
	}

      private:
	struct cyclops *handle_;
	int id_;
};

/* Begins a region, and ends it with the scope. */
class scope
{
      public:
	explicit scope(const region &r) : handle_(r.handle()), id_(r.id())
	{
		cyclops_begin(handle_, id_);
	}
	~scope()
	{
		cyclops_end(handle_, id_);
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	struct cyclops *handle_;
	int id_;
};

#else

/* The destructors are there so that objects which nobody names count as used. */
class measure
{
      public:
	explicit measure(const cyclops_options * = nullptr)
	{
	}
	~measure()
	{
	}
	int error() const
	{
		return 0;
	}
	const char *why() const
	{
		return "";
	}
};

class thread
{
      public:
	explicit thread(const measure &)
	{
	}
	~thread()
	{
	}
};

class region
{
      public:
	region(const measure &, const char *)
	{
	}
};

class scope
{
      public:
	explicit scope(const region &)
	{
	}
	~scope()
	{
	}
};

#endif

}

#endif
